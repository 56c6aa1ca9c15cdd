// `npm run bank`: the bank on its own, on BANK_PORT (8001 where none is given).
import { startBank } from './bank.ts'

const bank = await startBank(Number(process.env.BANK_PORT ?? 8001))
console.log(`bank on ${bank.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => bank[Symbol.asyncDispose]())
