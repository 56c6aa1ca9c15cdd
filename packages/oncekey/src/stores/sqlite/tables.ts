/** What our tables are called in somebody else's file. */
import { OncekeyError } from '../../core/errors.ts'

export interface Tables {
  readonly record: string
  readonly audit: string
  readonly meta: string
  readonly migration: string
}

/** Quoted and with their schema, so that nothing else by that name is ever meant (I6). Throws `INVALID_OPTION`. */
export function tablesOf(prefix: string): Tables {
  if (!/^[a-z_][a-z0-9_]{0,39}$/i.test(prefix))
    throw new OncekeyError('INVALID_OPTION', {
      what: `prefix cannot begin the name of a table: ${JSON.stringify(prefix)}.`,
      where: 'sqlite',
      why: 'It stands in every statement of the store.',
      fix: 'Give at most 40 letters, digits and underscores that do not begin with a digit; `oncekey_` is the default.',
    })
  const table = (name: string): string => `main."${prefix}${name}"`
  return { record: table('record'), audit: table('audit'), meta: table('meta'), migration: table('migration') }
}
