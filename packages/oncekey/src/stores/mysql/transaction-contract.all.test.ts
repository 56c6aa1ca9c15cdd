/** Transaction mode on MariaDB, held to the contract that every store is held to. */
import { describe, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { emptied, mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { fromMysql2 } from '../database/mysql2.ts'

describeMariadb('transaction mode on MariaDB', () => {
  const place = mysqlPlace()
  emptied(place)
  const shown = {
    mode: 'transaction',
    clock: 'real',
    several: true,
    reopen: true,
    effects: true,
    damage: true,
    behind: true,
    heldRow: true,
    sever: true,
  } as const

  storeContract(
    place.make((pool) => fromMysql2(pool)),
    { ...shown, name: 'MariaDB, transaction mode, by mysql2' },
    { runner: { describe, it } },
  )
})
