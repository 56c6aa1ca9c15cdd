// MySQL and MariaDB in both modes, and inside a transaction that the caller owns.
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise'
import { downstreamDedupes, type Operation, once } from 'oncekey'
import { fromMysql2, mysql } from 'oncekey/mysql'
import type { Bank } from './frameworks.ts'

export function inTransaction(pool: Pool) {
  // #region transaction
  const store = mysql(fromMysql2(pool), { retain: '24h' })

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const [account] = await tx.query<ResultSetHeader>('insert into account (owner) values (?)', [owner])
      return { id: account.insertId }
    })
  }
  // #endregion
  return { store, openAccount }
}

export async function tables(pool: Pool) {
  // #region migrate
  await mysql(fromMysql2(pool)).admin.migrate() // in your deployment, not in every process
  // #endregion
}

export function leaseMode(pool: Pool, bank: Bank) {
  // #region lease
  const store = mysql(fromMysql2(pool), { mode: 'lease', ...downstreamDedupes({ for: '24h' }) })

  function charge(operation: Operation, amount: number) {
    return once(store, operation, async (grant) => {
      const paid = await bank.charge(grant.childKey('charge'), amount, grant.signal)
      const tx = await grant.begin() // late: nothing foreign is awaited from here on
      await tx.query('insert into charge (amount, bank_id) values (?, ?)', [amount, paid.id])
      return paid // commits with the row and the receipt
    })
  }
  // #endregion
  return { store, charge }
}

export async function joining(pool: Pool, operation: Operation, owner: string) {
  const store = mysql(fromMysql2(pool))
  const connection: PoolConnection = await pool.getConnection()
  try {
    // #region within
    await connection.beginTransaction()
    await connection.query('insert into visit (owner) values (?)', [owner])
    const opened = await once(store.within(connection), operation, ({ tx }) =>
      tx.query('insert into account (owner) values (?)', [owner]).then(() => owner),
    )
    await connection.commit() // the answer is durable now, with everything else
    // #endregion
    return opened
  } finally {
    connection.release()
  }
}
