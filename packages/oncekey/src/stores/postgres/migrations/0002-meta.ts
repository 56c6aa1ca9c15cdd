/** What the one row of `meta` remembers of restores and of the sweep that is at work. */
import type { Names } from '../names.ts'
import type { Migration } from './migration.ts'

/** Columns that may be null and have no default: the table is not written again, and the release before reads none of them. */
export const meta: Migration = {
  version: 2,
  name: 'meta',
  statements: ({ meta }: Names) => [
    `alter table ${meta}
       add column restored_at     timestamptz,
       add column on_epoch_change text,
       add column sweeper         uuid,
       add column sweeper_until   timestamptz,
       add column sweep_place     text`,
  ],
}
