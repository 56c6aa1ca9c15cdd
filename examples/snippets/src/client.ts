// The caller's half: the key is made once, outside of every loop.
import { GaveUp, keyFor, newKey, send } from 'oncekey/client'

export async function pay(url: string, order: { readonly id: number; readonly amount: number }) {
  // #region send
  const key = keyFor('charge order', order.id) // or newKey(), kept with the order before the first attempt

  try {
    const response = await send(url, { key, json: { amount: order.amount } }, { attempts: 5, timeout: '10s' })
    return await response.json() // a definite answer, also where it is a 402
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error
    return { unknown: true, key: error.key } // try again later with this key, never with a new one
  }
  // #endregion
}

export const freshKey = newKey
