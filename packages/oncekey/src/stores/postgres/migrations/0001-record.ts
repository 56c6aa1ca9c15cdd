/** The first schema: what is remembered of each operation, who changed it by hand, and what this schema is. */
import type { Names } from '../names.ts'
import type { Migration } from './migration.ts'

export const record: Migration = {
  version: 1,
  name: 'record',
  statements: ({ record, audit, meta }: Names) => [
    // Exactly eight columns: the null bitmap of up to eight fits into the tuple header's 24 bytes. Digests are uuid, not
    // bytea: no length byte, and a tuple that packs without padding (160 against 186 bytes per key, indexes included).
    // The order is by alignment: 16-byte digests, 8-byte times and numbers, then the small and the long.
    `create table ${record} (
       k           uuid        primary key,
       fingerprint uuid        not null,
       expires_at  timestamptz,
       lease_end   timestamptz,
       fence       bigint,
       token       uuid,
       state       smallint    not null,
       body        bytea
     )`,
    // BRIN, not btree: the sweeper reads ranges of old pages, and a btree on the end costs 25 bytes per key (184 against
    // 160). No index on state: a partial one on running rows ends HOT updates (230 to 249 bytes per key).
    `create index record_expires_at on ${record} using brin (expires_at) with (pages_per_range = 32)`,
    // What people wrote stands in bytes, never in text or json: no encoding can refuse it.
    `create table ${audit} (
       id     bigint      generated always as identity primary key,
       at     timestamptz not null default clock_timestamp(),
       k      uuid        not null,
       action text        not null,
       state  smallint,
       fence  bigint,
       label  bytea,
       who    bytea       not null,
       why    bytea       not null
     )`,
    `create table ${meta} (
       one             boolean  primary key default true check (one),
       identity_scheme smallint not null,
       min_reader      smallint not null,
       epoch           uuid     not null
     )`,
    `insert into ${meta} (identity_scheme, min_reader, epoch) values (1, 1, gen_random_uuid())`,
  ],
}
