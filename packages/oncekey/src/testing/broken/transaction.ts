/** Transaction mode with one fault each, over PostgreSQL: they show that the contract would notice. */
import { type Database, isInDoubt, type Statement } from '../../stores/database/database.ts'
import type { Dialect } from '../../stores/transactional/dialect.ts'

export interface Parts<Tx> {
  readonly database: Database<Tx>
  readonly dialect: Dialect
}
export interface BrokenTransaction {
  readonly name: string
  /** The titles of the rules that it breaks, all of them unless it `spoils` whatever builds on it. */
  readonly breaks: readonly string[]
  readonly spoils?: true
  readonly mayBreak?: readonly string[]
  vary<Tx>(parts: Parts<Tx>): Parts<Tx>
}

const PROOF = /case when \(extract\(epoch from pg_catalog\.now\(\)\) \* 1000000\)::bigint <> \$5::bigint/g

const REPEATED_END = /and \(state not in \(4, 5\) or coalesce\(lease_end, expires_at\) <= [^)]*\(\)\)/

function unproven({ text, params }: Statement): Statement {
  return { text: text.replace(PROOF, 'case when $5::bigint is null'), params }
}

function proof(opened: string): Statement {
  return {
    text: `select case when (extract(epoch from now()) * 1000000)::bigint <> $1::bigint
            then ('oncekey: this is not the transaction that was opened ' || now())::int end`,
    params: [opened],
  }
}

export const BROKEN_TRANSACTIONS: readonly BrokenTransaction[] = [
  {
    name: 'answers before its COMMIT',
    breaks: ['when the answer leaves, record and writes are there for everybody'],
    spoils: true,
    vary: ({ database, dialect }) => ({
      dialect,
      database: {
        ...database,
        transaction: (opening, body) =>
          new Promise((resolve, reject) => {
            database
              .transaction(opening, async (...args) => {
                const ending = await body(...args)
                resolve(ending.value)
                await new Promise((later) => setTimeout(later, 100))
                return ending
              })
              .catch(reject)
          }),
      },
    }),
  },
  {
    name: 'takes COMMIT in doubt for a failure',
    breaks: ['COMMIT whose answer was lost is answered from the record, and nothing runs again'],
    vary: ({ database, dialect }) => ({
      dialect,
      database: {
        ...database,
        transaction: (opening, body) =>
          database.transaction(opening, body).catch((error: unknown) => {
            throw isInDoubt(error) ? new Error('failed', { cause: error }) : error
          }),
      },
    }),
  },
  {
    name: 'replaces without repeating the end',
    breaks: ['a record that came alive while the work ran is not overwritten, and the work is undone'],
    vary: ({ database, dialect }) => ({
      database,
      dialect: {
        ...dialect,
        replace(wanted, seen) {
          const { text, params } = dialect.replace(wanted, seen)
          return {
            text: text.replace(REPEATED_END, ''),
            params,
          }
        },
      },
    }),
  },
  {
    name: "takes the user's own COMMIT for its own",
    breaks: [
      'work that ends its own transaction (commit) is an unknown outcome, and is never run again',
      'work that ends its own transaction (rollback) is an unknown outcome, and is never run again',
    ],
    vary: ({ database, dialect }) => ({
      database,
      dialect: {
        ...dialect,
        insert: (wanted) => unproven(dialect.insert(wanted)),
      },
    }),
  },
  {
    // Seen where each statement is a message of its own: what stands behind a failed one runs all the same.
    name: 'proves outside of the insert',
    breaks: [
      'work that ends its own transaction (commit) is an unknown outcome, and is never run again',
      'work that ends its own transaction (rollback) is an unknown outcome, and is never run again',
    ],
    vary: ({ database, dialect }) => ({
      dialect: { ...dialect, insert: (wanted) => unproven(dialect.insert(wanted)) },
      database: {
        ...database,
        transaction: (opening, body) =>
          database.transaction(opening, async (tx, answers, gone) => {
            const ending = await body(tx, answers, gone)
            if ('rollback' in ending) return ending
            return { ...ending, commit: [proof(dialect.read(answers).opened), ...ending.commit] }
          }),
      },
    }),
  },
  {
    name: 'skips the mismatch on a lost race',
    breaks: ['another request while the first runs is a mismatch, not busy'],
    // A race: it shows where the loser comes while the winner still runs.
    mayBreak: ['of two first requests that differ one runs, and the loser of that race is compared too'],
    vary: ({ database, dialect }) => ({
      database,
      dialect: { ...dialect, readHolder: () => 'same' },
    }),
  },
]
