/** The whole store contract on DynamoDB Local: as the factory makes it, and with time moved and replies lost. */
import { beforeAll, describe, it } from 'vitest'
import { describeDynamodbLocal } from '../../../../../test/support/dynamodb.ts'
import { factorySubject, makeEffects, movedSubject } from '../../../../../test/support/dynamodb-subject.ts'
import { storeContract } from '../../testing/store-contract.ts'

const runner = { describe, it }
const shown = { mode: 'lease', several: true, effects: true, damage: true } as const

describeDynamodbLocal('on DynamoDB Local', (server) => {
  beforeAll(() => makeEffects(server.client()))

  storeContract(
    (settings) => movedSubject(server, settings),
    { ...shown, clock: 'moved', faults: true, name: 'DynamoDB Local, lease mode, its clock moved, replies lost' },
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
      name: 'DynamoDB Local, lease mode',
    },
    { runner },
  )
})
