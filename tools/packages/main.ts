import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { buildPackages, packPackages } from './build.ts'

await buildPackages()
for (const archive of await packPackages()) {
  console.log(`${relative(process.cwd(), archive)}  ${Math.ceil(statSync(archive).size / 1024)} KiB`)
}
