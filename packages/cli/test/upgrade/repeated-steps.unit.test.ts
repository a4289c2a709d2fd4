import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { steps } from '../../src/upgrade/steps.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

/** The parts of an application of 0.2.0 that steps change. */
const oldFiles = {
  '.gitattributes': 'components/kafka.yaml linguist-generated\nvendor/* binary linguist-generated\n',
  '.mocharc.json': '{\n  "timeout": 300000,\n  "exit": true\n}\n',
  Makefile:
    'orderflow := ./orderflow\n\n.DEFAULT_GOAL := help\n\n.PHONY: check test generate\n\ncheck:\n\t@$(orderflow) envelope compat $${AGAINST:+x}\n',
  'biome.json':
    '{\n  "files": {\n    "includes": [\n      "**",\n      "!components",\n      "!envelope-schema"\n    ]\n  }\n}\n',
  'components/configuration.yaml':
    'spec:\n  metrics:\n    http:\n      increasedCardinality: false\n  features:\n    - name: HotReload\n      enabled: false\n',
  'package.json': '{\n  "name": "shop",\n  "scripts": {\n    "test": "make test"\n  }\n}\n',
}

describe('the steps of upgrades', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(removeFolders)

  const write = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const read = () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const paths = files.map(({ parentPath, name }) => join(parentPath, name))
    return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
  }
  const takeSteps = async (some = steps) => {
    for (const { change } of some) await change?.(folder)
    return read()
  }

  it('change an application of 0.2.0 once, even if it takes them twice', async () => {
    write(oldFiles)
    const once = await takeSteps()
    for (const path of Object.keys(oldFiles))
      expect(once[path], path).not.to.equal(oldFiles[path as keyof typeof oldFiles])
    expect(once['components/configuration.yaml']).to.contain(
      '\n  metrics:\n    # Kubernetes requires this field.\n    enabled: true\n    http:\n      increasedCardinality: false\n',
    )
    expect(once.Makefile).to.contain('\t@$(orderflow) check-demo\n\t@$(orderflow) envelope compat $${AGAINST:+x}\n')
    expect(JSON.parse(once['package.json'] ?? '').scripts).to.include({ dev: './orderflow dev', test: 'make test' })
    expect(await takeSteps()).to.deep.equal(once)
  })

  it('change nothing that an application already has, whichever steps it has taken', async () => {
    for (const [index, step] of steps.entries()) {
      write(oldFiles)
      await takeSteps([step])
      await takeSteps(steps.slice(0, index))
      const some = await takeSteps(steps.slice(index))
      expect(await takeSteps(), step.title).to.deep.equal(some)
      expect(some['components/configuration.yaml']?.match(/enabled: true/g), step.title).to.have.length(1)
      expect(some.Makefile?.match(/^include|^dev:/gm), step.title).to.have.length(2)
      expect(some['.gitattributes']?.split('\n'), step.title).to.have.length(11)
    }
  })

  it('change nothing in an application of the present sources', async () => {
    cpSync(join(repository, 'tools/new-app/template'), folder, { recursive: true })
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    const configuration = readFileSync(join(repository, 'components/configuration.yaml'), 'utf8')
    write({ 'package.json': JSON.stringify({ scripts }), 'components/configuration.yaml': configuration })
    const before = read()
    expect(await takeSteps()).to.deep.equal(before)
  })

  it('leave out files that the application has removed', async () => {
    write({ 'package.json': oldFiles['package.json'] })
    expect(Object.keys(await takeSteps())).to.have.members(['.gitattributes', 'package.json'])
  })
})
