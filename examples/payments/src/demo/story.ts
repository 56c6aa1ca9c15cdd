// What a story is: something that goes wrong for other people, played for real, and the number of charges that must be left.
import type { Stage } from './stage.ts'

export interface Told {
  /** What the client saw, a line each. */
  readonly saw: readonly string[]
  /** What the table, and the bank where one was asked, hold. */
  readonly holds: readonly string[]
  readonly charges: number
  readonly expected: number
  readonly bars?: readonly Bar[]
}
export interface Bar {
  readonly label: string
  readonly value: number
  readonly of: number
}
export interface Story {
  readonly title: string
  /** What it is about, in a sentence. */
  readonly about: string
  play(stage: Stage): Promise<Told>
}
