import { buildPackages, packPackages } from '@orderflow/packages'
import { expect } from 'chai'
import { type NewApplication, newApplication } from '../checkouts/new-application.ts'
import { type Registry, startRegistry } from '../programs/registry.ts'
import { followSteps, type Reader, stepsIn } from './follow-document.ts'

/**
 * Declares a test for each step of a document whose first step creates an application. The application gets its packages from a registry on this machine.
 * @param name the name of the application in the document
 * @param shownOffset the offset of the ports in the document, which derives from the name
 */
export function followApplication(path: string, name: string, shownOffset: number): () => Reader<NewApplication> {
  const [first, ...steps] = stepsIn(path)
  const create = (folder: string) => (first?.do === 'run' ? first.script : '').replaceAll(`../${name}`, folder)
  let registry: Registry
  before(async () => {
    registry = await startRegistry()
    await buildPackages()
    for (const archive of (await packPackages()).values()) await registry.publish(archive)
  })
  after(() => registry?.stop())

  it('begins with the command that creates the application', () => {
    expect(create(`../${name}`)).to.match(/^make new-app DIR=/)
  })

  return followSteps(steps, async () => {
    // npm may have cached packages of an earlier registry on the same port.
    const settings = `export REGISTRY=${registry.url} npm_config_prefer_online=true\n`
    const copy = await newApplication(name, (folder) => settings + create(folder))
    return { copy, offset: copy.offset - shownOffset, env: {} }
  })
}
