/**
 * Builds the documentation site in .stack/site/dist.
 * Usage: `node tools/site/main.ts [--serve=PORT] [--base=/] [--source-url=URL]`
 * `--base` is the path of the site on its host. `--source-url` is the address of this commit's files on a code host, for example
 * https://github.com/me/orderflow/blob/main.
 */
import { parseArgs } from 'node:util'
import { reportError } from '@orderflow/stack/base'
import { build, siteFolder } from './build.ts'
import { serve } from './serve.ts'

const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, serve: { type: 'string' }, 'source-url': { type: 'string' } },
})

try {
  await build({ base: values.base, sourceUrl: values['source-url'] })
  console.log(`the site is in ${siteFolder}`)
  if (values.serve) {
    await serve(siteFolder, Number(values.serve))
    console.log(`http://localhost:${values.serve}/ shows it; Ctrl-C ends the server`)
    await new Promise(() => {})
  }
  process.exit()
} catch (error) {
  reportError(error)
  process.exit(1)
}
