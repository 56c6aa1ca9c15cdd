/** Reads what MySQL or MariaDB said out of whatever a library wrapped around it. */

export interface MysqlError {
  readonly errno: number
}

/** The server's own words: what the driver says of a lost connection has no number of the server, or is marked fatal. */
export function mysqlError(error: unknown, depth = 0): MysqlError | undefined {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined
  const { errno, sqlState, fatal, cause, driverError, original } = error as Loose
  if (typeof errno === 'number' && errno >= 1_000 && typeof sqlState === 'string')
    return fatal === true ? undefined : { errno }
  for (const inner of [driverError, original, cause]) {
    const found = mysqlError(inner, depth + 1)
    if (found) return found
  }
  return undefined
}

/**
 * Behind these a COMMIT may have been carried out: shutdown (1053), an error or a kill in its midst (1180, 1317, 1927,
 * 3169), a connection that broke (1152 to 1161). Every other word of the server's is a refusal.
 */
export function leavesInDoubt(errno: number): boolean {
  return [1053, 1180, 1317, 1927, 3169].includes(errno) || (errno >= 1152 && errno <= 1161)
}

type Loose = Readonly<Record<string, unknown>>
