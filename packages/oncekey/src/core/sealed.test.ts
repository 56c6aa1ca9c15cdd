/** Sealed receipts: who can read them, what they are bound to, and what becomes of answers whose key is lost. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { memory } from '../stores/memory.ts'
import { once } from './once.ts'
import { databaseOnly } from './policy.ts'
import { valueCodec } from './receipt.ts'
import { type Keyring, sealed } from './sealed.ts'

const key = () => new Uint8Array(randomBytes(32))
const operation = { scope: ['acct_1'], key: 'order-17' } as const
const secret = { iban: 'DE89 3704 0044 0532 0130 00' }
const ring = (keys: Record<string, Uint8Array>, current = Object.keys(keys).at(-1) ?? ''): Keyring => ({
  current,
  keys,
})

describe('a sealed receipt', () => {
  it('comes back as what it was, and shows nothing of it', async () => {
    const codec = sealed(valueCodec<typeof secret>(), ring({ '2026-11': key() }))
    const receipt = await codec.encode(secret, operation)
    expect(Buffer.from(receipt).includes('DE89')).toBe(false)
    expect(await codec.decode(receipt, operation)).toEqual(secret)
  })
  it('is another one each time', async () => {
    const codec = sealed(valueCodec<typeof secret>(), ring({ a: key() }))
    expect(await codec.encode(secret, operation)).not.toEqual(await codec.encode(secret, operation))
  })
  it('is deflated before it is sealed', async () => {
    const codec = sealed(valueCodec<string>(), ring({ a: key() }))
    expect((await codec.encode('x'.repeat(10_000), operation)).length).toBeLessThan(200)
  })
  it('is bound to its scope and key: a row that was swapped is not read', async () => {
    const codec = sealed(valueCodec<typeof secret>(), ring({ a: key() }))
    const receipt = await codec.encode(secret, operation)
    for (const other of [
      { ...operation, key: 'order-18' },
      { ...operation, scope: ['acct_2'] },
      { scope: ['acct_1', 'order-17'], key: 'order-17' },
    ])
      await expect(codec.decode(receipt, other)).rejects.toMatchObject({ code: 'RECEIPT_UNREADABLE' })
  })
  it('does not open once a bit of it has changed', async () => {
    const codec = sealed(valueCodec<typeof secret>(), ring({ a: key() }))
    const receipt = await codec.encode(secret, operation)
    for (let at = 0; at < receipt.length; at++) {
      const damaged = receipt.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 1
      await expect(codec.decode(damaged, operation), `byte ${at}`).rejects.toMatchObject({ code: 'RECEIPT_UNREADABLE' })
    }
  })
  it('is read with the key that it names, after another has become current', async () => {
    const old = key()
    const receipt = await sealed(valueCodec<typeof secret>(), ring({ old })).encode(secret, operation)
    const rotated = sealed(valueCodec<typeof secret>(), ring({ old, new: key() }))
    expect(await rotated.decode(receipt, operation)).toEqual(secret)
    expect(Buffer.from(await rotated.encode(secret, operation)).includes('new')).toBe(true)
  })
  it('whose key is lost makes the answer unavailable, and the work is not run again', async () => {
    const store = memory(databaseOnly)
    const work = vi.fn(async () => secret)
    const charge = { ...operation, fingerprints: ['body'] as const }
    const before = sealed(valueCodec<typeof secret>(), ring({ lost: key() }))
    expect(await once(store, charge, work, { codec: before })).toMatchObject({ kind: 'ran' })
    expect(await once(store, charge, work, { codec: before })).toMatchObject({ kind: 'replayed', value: secret })
    const after = sealed(valueCodec<typeof secret>(), ring({ found: key() }))
    expect(await once(store, charge, work, { codec: after })).toMatchObject({ kind: 'not-kept' })
    expect(work).toHaveBeenCalledTimes(1)
    await store[Symbol.asyncDispose]()
  })
  it('whose key cannot be had at the moment leaves the effect, and says that its answer was not kept', async () => {
    const store = memory(databaseOnly)
    const work = vi.fn(async () => secret)
    const charge = { ...operation, fingerprints: ['body'] as const }
    const down = async () => {
      throw new Error('the key service is down')
    }
    const codec = sealed(valueCodec<typeof secret>(), { current: 'kms', keys: down })
    expect(await once(store, charge, work, { codec })).toMatchObject({ kind: 'ran', fate: 'spent' })
    expect(await once(store, charge, work, { codec })).toMatchObject({ kind: 'not-kept' })
    await store[Symbol.asyncDispose]()
  })
})

describe('a keyring', () => {
  it('may look its keys up, once for each', async () => {
    const bytes = key()
    const keys = vi.fn(async (name: string) => (name === 'kms-1' ? bytes : undefined))
    const codec = sealed(valueCodec<number>(), { current: 'kms-1', keys })
    const receipt = await codec.encode(17, operation)
    expect(await codec.decode(receipt, operation)).toBe(17)
    expect(keys).toHaveBeenCalledTimes(1)
  })
  it('asks again for a key that it did not get', async () => {
    const bytes = key()
    const keys = vi.fn(async () => bytes as Uint8Array | undefined).mockResolvedValueOnce(undefined)
    const codec = sealed(valueCodec<number>(), { current: 'kms-1', keys })
    await expect(codec.encode(17, operation)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    expect(await codec.decode(await codec.encode(17, operation), operation)).toBe(17)
  })
  it('that cannot seal is refused at once, with what to do', () => {
    for (const bad of [
      ring({ a: new Uint8Array(16) }),
      ring({ a: key() }, 'b'),
      ring({ toString: key() }, 'valueOf'),
      ring({ '': key() }, ''),
      ring({ ['n'.repeat(256)]: key() }),
    ])
      expect(() => sealed(valueCodec(), bad)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
