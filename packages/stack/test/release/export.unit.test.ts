import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { exportService } from '../../src/release/export.ts'
import { capturedOutput } from './support/captured-output.ts'
import { serviceNamed } from './support/service-named.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('the exported instructions of a release', () => {
  it('push the image before they change settings, and release it immediately after that', async () => {
    const folder = temporaryFolder()
    const service = serviceNamed('order')
    await exportService(service, { RELEASE_FOLDER: folder }, capturedOutput())
    const steps = readFileSync(join(folder, service.name, 'instructions.md'), 'utf8')
    const commands = [...steps.matchAll(/^(docker push|curl .*(?:PATCH) .*\/(?:config-vars|formation))/gm)]
    expect(commands.map(([command]) => command.split(/[ /]/).at(-1)).slice(0, 3)).to.deep.equal([
      'push',
      'config-vars',
      'formation',
    ])
    expect(steps.match(/^## \d/gm)).to.deep.equal(['## 1', '## 2', '## 3', '## 4', '## 5'])
  })
})
