/** The first schema: what is remembered of each operation, who changed it by hand, and what this schema is. */
import type { Names } from '../names.ts'
import type { Migration } from './migration.ts'

/** InnoDB by name: a server may have another default, and only here are rows locks and transactions durable. */
const TABLE = 'engine = InnoDB row_format = dynamic default charset = ascii collate = ascii_bin'

export const record: Migration = {
  version: 1,
  name: 'record',
  statements: ({ record: table, audit, meta }: Names) => [
    // Times are microseconds since 1970: `datetime` knows no zone and `timestamp` ends in 2038. Digests are bytes, and so
    // is everything that people wrote: no character set can refuse or change it. No index but the primary key, in whose
    // order the sweeper goes through the table: another one would cost each key two writes more.
    `create table if not exists ${table} (
       k           binary(16) not null primary key,
       fingerprint binary(16) not null,
       expires_at  bigint,
       lease_end   bigint,
       fence       bigint,
       token       binary(16),
       state       smallint   not null,
       body        mediumblob
     ) ${TABLE}`,
    `create table if not exists ${audit} (
       id     bigint      not null auto_increment primary key,
       at     bigint      not null,
       k      binary(16),
       action varchar(16) not null,
       state  smallint,
       fence  bigint,
       label  mediumblob,
       who    blob        not null,
       why    mediumblob  not null
     ) ${TABLE}`,
    `create table if not exists ${meta} (
       one             tinyint    not null primary key default 1,
       identity_scheme smallint   not null,
       min_reader      smallint   not null,
       epoch           binary(16) not null,
       restored_at     bigint,
       on_epoch_change varchar(8),
       sweeper         binary(16),
       sweeper_until   bigint,
       sweep_place     binary(16)
     ) ${TABLE}`,
    `insert ignore into ${meta} (one, identity_scheme, min_reader, epoch) values (1, 1, 1, unhex(replace(uuid(), '-', '')))`,
  ],
}
