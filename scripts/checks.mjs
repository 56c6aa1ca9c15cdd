// The checks that need no running code, as arguments for node, from the root of a checkout.

/** @type {Readonly<Record<'format' | 'lint' | 'types', readonly string[]>>} */
export const checks = {
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'],
  // By path: TypeScript 6 and 7 both own the command `tsc`.
  types: ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json'],
}
