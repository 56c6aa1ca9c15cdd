/** T7: which SQL would end a transaction, and which only looks like it. */
import { expect, it } from 'vitest'
import { controlIn, refuseControl } from './transaction-control.ts'

it.each([
  'commit',
  'COMMIT;',
  '  end transaction',
  'abort',
  'rollback',
  'ROLLBACK WORK',
  'rollback and chain',
  "prepare transaction 'x'",
  'select 1; commit',
  "insert into t values (';'); -- done\n commit",
  '/* a /* nested */ comment */ commit',
  '-- a comment\nrollback',
  'select $$ ; $$; end',
  "select e'\\''; commit",
])('refuses %j', (sql) => {
  expect(controlIn(sql)).toBeDefined()
  expect(() => refuseControl(sql)).toThrow(/TX_CONTROL/)
})

it.each([
  'rollback to savepoint a',
  'ROLLBACK TRANSACTION TO a',
  'rollback work to savepoint a',
  'release savepoint a',
  "select 'commit'",
  'select "commit" from t',
  "insert into note values ('; rollback; ')",
  'select case when true then 1 end',
  '-- commit\nselect 1',
  '/* ; commit */ select 1',
  'do $$ begin perform 1; end $$',
  'create function f() returns int language plpgsql as $body$ begin return 1; end; $body$',
  'create function f() returns int begin atomic select 1; end',
  'prepare plan as select 1',
  "commit prepared 'x'",
  "rollback prepared 'x'",
  'select commit_id from t',
  "select 'it''s'; select 'end'",
])('lets %j pass', (sql) => {
  expect(controlIn(sql)).toBeUndefined()
  expect(() => refuseControl(sql)).not.toThrow()
})

it('stays quick on a text that almost closes', () => {
  const begun = performance.now()
  controlIn(`/* commit ${'/*'.repeat(20_000)}`)
  controlIn(`commit_id ${"'".repeat(20_001)}`)
  controlIn(`end$a$${'$'.repeat(20_000)}`)
  expect(performance.now() - begun).toBeLessThan(2_000)
})
