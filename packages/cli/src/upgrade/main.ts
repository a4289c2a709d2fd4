import { dirname } from 'node:path'
import { move } from './move.ts'
import { UpgradeError } from './run.ts'
import { steps } from './steps.ts'

// `./orderflow upgrade` of the installed version starts this program of the new version, before the new packages are installed. So this program and its
// imports use only modules of Node, and run with the Node of the installed version. Every later version must keep its path and its arguments:
// node src/upgrade/main.js APPLICATION [ARCHIVES].
// Ctrl-C also ends the command that runs for the current step. Its failure then prints the way back.
process.on('SIGINT', () => {})
const [application = '', archives] = process.argv.slice(2)
try {
  const cli = dirname(dirname(import.meta.dirname))
  await move({ application, archives, cli, steps, print: (text) => console.log(text) })
} catch (error) {
  if (!(error instanceof UpgradeError)) throw error
  console.error(`error: ${error.message}`)
  if (error.nextStep) console.error(`next: ${error.nextStep}`)
  process.exitCode = 1
}
