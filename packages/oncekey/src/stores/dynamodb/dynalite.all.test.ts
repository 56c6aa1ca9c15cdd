/** The store contract on dynalite, a second server that speaks DynamoDB: it has no transactions, and no old items in its refusals. */
import { describe, it } from 'vitest'
import { describeDynalite } from '../../../../../test/support/dynamodb.ts'
import { factorySubject, movedSubject } from '../../../../../test/support/dynamodb-subject.ts'
import { storeContract } from '../../testing/store-contract.ts'

const runner = { describe, it }
const shown = { mode: 'lease', several: true, damage: true, audited: false } as const

describeDynalite('on dynalite', (server) => {
  storeContract(
    (settings) => movedSubject(server, settings),
    { ...shown, clock: 'moved', faults: true, name: 'DynamoDB (dynalite), lease mode, its clock moved, replies lost' },
    { runner },
  )
  storeContract(
    (settings) => factorySubject(server, settings),
    {
      ...shown,
      clock: 'real',
      callersClock: true,
      reopen: true,
      sever: true,
      name: 'DynamoDB (dynalite), lease mode',
    },
    { runner },
  )
})
