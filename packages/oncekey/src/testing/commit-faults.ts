/** Loses COMMIT or its answer over any database of transaction mode, so that what a store does about it can be shown. */
import { type Database, type Ending, InDoubt } from '../stores/database/database.ts'

export interface CommitFaults<Tx> {
  readonly database: Database<Tx>
  /** The next COMMIT that carries statements is carried out and its answer lost, or never arrives. */
  befallCommit(fault: 'lose' | 'refuse'): void
}

export function commitFaults<Tx>(over: Database<Tx>): CommitFaults<Tx> {
  let next: 'lose' | 'refuse' | undefined

  return {
    befallCommit(fault) {
      next = fault
    },
    database: {
      ...over,
      async transaction<R>(opening: Parameters<Database<Tx>['transaction']>[0], body: Body<Tx, R>): Promise<R> {
        let struck: 'lose' | 'refuse' | undefined
        const value = await over.transaction<R>(opening, async (...args) => {
          const ending = await body(...args)
          if ('rollback' in ending || ending.commit.length === 0 || next === undefined) return ending
          struck = next
          next = undefined
          return struck === 'refuse' ? { rollback: true, value: ending.value } : ending
        })
        if (struck) throw new InDoubt(new Error(`planted: ${struck}`))
        return value
      },
    },
  }
}

type Body<Tx, R> = (...args: Parameters<Parameters<Database<Tx>['transaction']>[1]>) => Promise<Ending<R>>
