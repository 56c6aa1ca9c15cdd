// What a subject over a library that installs apart can show of the store contract: said to the run there, and to the one that tells of it here.
export const SHOWN = {
  mode: 'transaction',
  clock: 'real',
  several: true,
  reopen: true,
  effects: true,
  damage: true,
} as const
