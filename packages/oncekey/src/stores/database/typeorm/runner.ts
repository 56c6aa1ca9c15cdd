/** What is used of TypeORM (https://github.com/typeorm/typeorm, 1.1): a query runner, with a connection that we put into it. */
import type { Database, Row, Statement } from '../database.ts'

/** What a caller hands in: a `DataSource`; its manager has the type of a transaction's. */
export interface TypeormSource<Manager> {
  readonly manager: Manager
  readonly driver: object
  createQueryRunner(mode?: 'master'): object
}

export interface Runner {
  readonly manager: unknown
  databaseConnection: object
  connect(): Promise<object>
  startTransaction(): Promise<void>
  readonly broadcaster: { broadcast(event: string): Promise<void> }
}

export function runnerOf(manager: unknown): Runner {
  return (manager as { readonly queryRunner: Runner }).queryRunner
}

/** A runner in a transaction, on a connection that it did not obtain and does not release. */
export async function runnerOver(source: TypeormSource<unknown>, connection: object): Promise<Runner> {
  const runner = source.createQueryRunner('master') as Runner
  runner.databaseConnection = connection
  await runner.startTransaction()
  return runner
}

interface Managing<Client, Manager> {
  lend(client: Client): Promise<Runner>
  on(manager: Manager): (statement: Statement) => Promise<readonly Row[]>
}

/** As `lent`, and the subscribers hear how the transaction ends, as of one that TypeORM ends by itself. */
export function managed<Client, Manager>(
  database: Database<Client>,
  { lend, on }: Managing<Client, Manager>,
): Database<Manager> {
  return {
    ...database,
    on,
    async transaction(opening, body) {
      let after = async (): Promise<void> => {}
      const value = await database.transaction(opening, async (client, opened, gone) => {
        const { manager, broadcaster } = await lend(client)
        const ending = await body(manager as Manager, opened, gone)
        const how = 'rollback' in ending ? 'Rollback' : 'Commit'
        // A subscriber that throws before COMMIT undoes it; one that throws afterwards cannot.
        await broadcaster.broadcast(`BeforeTransaction${how}`)
        after = () => broadcaster.broadcast(`AfterTransaction${how}`)
        return ending
      })
      await after().catch((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)))
      return value
    },
  }
}
