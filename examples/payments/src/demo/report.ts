// How a story is told: colours and bars in a terminal, plain lines when piped.
import { styleText } from 'node:util'
import type { Bar, Story, Told } from './story.ts'

const WIDTH = 40

export interface Reporter {
  opening(where: string): void
  story(story: Story, number: number, told: Told): void
  closing(right: number, wrong: number, seconds: number): void
}

export function terminalReport(write: (line: string) => void, coloured: boolean): Reporter {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    coloured ? styleText(format, text, { validateStream: false }) : text

  function bars(all: readonly Bar[]): void {
    const label = Math.max(...all.map((bar) => bar.label.length))
    for (const bar of all) {
      const filled = Math.max(1, Math.round((bar.value / bar.of) * WIDTH))
      const drawn =
        style(bar.value === 1 ? 'green' : 'red', '█'.repeat(filled)) + style('dim', '·'.repeat(WIDTH - filled))
      write(`     ${bar.label.padEnd(label)}  ${drawn} ${bar.value} of ${bar.of}`)
    }
  }

  return {
    opening(where) {
      write(style('bold', `oncekey: a payments API on ${where}`))
      write(style('dim', 'Each story starts real servers, breaks something, and counts the charges.'))
    },
    story({ title, about }, number, told) {
      const right = told.charges === told.expected
      write('')
      write(`${style(right ? 'green' : 'red', right ? '✓' : '✗')} ${style('bold', `${number}. ${title}`)}`)
      write(`   ${style('dim', about)}`)
      for (const line of told.saw) write(`     ${line}`)
      if (told.bars) bars(told.bars)
      for (const line of told.holds) write(`     ${style('cyan', '→')} ${line}`)
      if (!right) write(style('red', `     expected ${told.expected}, found ${told.charges}`))
    },
    closing(right, wrong, seconds) {
      write('')
      const line =
        wrong === 0
          ? `${right} stories, every one with the right number of charges`
          : `${wrong} of ${right + wrong} stories ended with the wrong number of charges`
      write(`${style(wrong === 0 ? 'green' : 'red', line)} ${style('dim', `(${seconds.toFixed(1)} s)`)}`)
    },
  }
}
