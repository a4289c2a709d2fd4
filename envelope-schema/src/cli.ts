import { readFileSync } from 'node:fs'
import { runCommand } from './validate.ts'

process.exitCode = runCommand(process.argv.slice(2), {
  read: (file) => readFileSync(file === '-' ? 0 : file),
  print: (line) => console.log(line),
  printUsage: (text) => void process.stderr.write(text),
})
