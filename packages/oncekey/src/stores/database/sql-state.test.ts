/** What a database said is found in whatever a library wraps around it. */
import { expect, it } from 'vitest'
import { sqlError, sqlState } from './sql-state.ts'

const said = { code: '23505', message: 'duplicate key', schema: 'oncekey', table: 'record', constraint: 'record_pkey' }

it.each([
  ['pg', said],
  [
    'postgres.js',
    { ...said, schema: undefined, schema_name: 'oncekey', table_name: 'record', constraint_name: 'record_pkey' },
  ],
  ['Drizzle', new Error('Failed query', { cause: said })],
  ['TypeORM', { name: 'QueryFailedError', driverError: said }],
  ['Sequelize', { original: said }],
  ['Prisma', { code: 'P2002', meta: { cause: 'x' }, cause: said }],
  [
    'Prisma 7, by a driver adapter',
    {
      code: 'P2010',
      meta: {
        driverAdapterError: {
          cause: { ...said, code: undefined, originalCode: said.code, constraint: { index: said.constraint } },
        },
      },
    },
  ],
  ['a wrapper in a wrapper', new Error('outer', { cause: new Error('inner', { cause: said }) })],
])('of %s', (_, error) => {
  expect(sqlError(error)).toMatchObject({
    code: '23505',
    schema: 'oncekey',
    table: 'record',
    constraint: 'record_pkey',
  })
})

it.each([
  undefined,
  null,
  'text',
  new Error('plain'),
  { code: 'EPIPE' },
  { code: 'P2002' },
  { code: 'ECONNRESET' },
  { code: 23505 },
])('%j carries none', (error) => expect(sqlState(error)).toBeUndefined())

it('an error that is its own cause ends', () => {
  const loop: { cause?: unknown } = {}
  loop.cause = loop
  expect(sqlState(loop)).toBeUndefined()
})
