// The articles' measurements and ours, side by side in one run: as tables, and as JSON.
import { writeFileSync } from 'node:fs'
import { about } from './about.ts'
import { print, printFindings, type Section, verdictOf } from './report.ts'
import { run } from './sections.ts'
import { type Settings, settingsFrom, USAGE } from './settings.ts'

let settings: Settings | undefined
try {
  settings = settingsFrom(process.argv.slice(2), process.env)
} catch (error) {
  console.error(`${(error as Error).message}\n\n${USAGE}`)
  process.exitCode = 2
}
// A run that is given up leaves no files behind; its databases go with the server that was started for it.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143))
if (settings) await bench(settings)

async function bench(settings: Settings): Promise<void> {
  const machine = await about(settings.postgres)
  console.log(
    Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(' · '),
  )
  if (settings.quick) console.log('A smoke run: too few rounds to judge anything by.')
  const sections: Section[] = []
  for (const name of settings.only) {
    for await (const section of run(name, settings)) {
      sections.push(section)
      print(section)
    }
  }
  const findings = sections.flatMap((section) => section.findings).filter(({ must }) => must !== undefined)
  console.log(`\nWhat is asked, ${settings.rounds} rounds`)
  printFindings(findings)
  const after = await about(settings.postgres)
  const result = {
    machine: { ...machine, loadAfter: after.load },
    settings: { rounds: settings.rounds, quick: settings.quick, only: settings.only },
    sections: sections.map((section) => ({
      ...section,
      findings: section.findings.map((finding) => ({ ...finding, verdict: verdictOf(finding) })),
    })),
  }
  if (settings.json === undefined) console.log(JSON.stringify(result))
  else writeFileSync(settings.json, `${JSON.stringify(result, null, 2)}\n`)
  // Ratios are for people to judge; a second charge is a fault, whatever the machine did meanwhile.
  if (findings.some((finding) => finding.bound === 'exact' && verdictOf(finding) === 'MISSED')) process.exitCode = 1
}
