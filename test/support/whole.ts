// Long counts: a part of them with `npm run test:all`, all of them with `ONCEKEY_TEST_WHOLE=1`.

export function countOf({ whole, usual }: { readonly whole: number; readonly usual: number }): number {
  return process.env.ONCEKEY_TEST_WHOLE === '1' ? whole : usual
}
