import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { postgresqlFile } from '../../src/containers/project.ts'
import { everyStackImage, observerImages, prometheusImage, testImages } from '../../src/lib/images.ts'
import { repository } from '../../src/lib/paths.ts'
import { recipeOf } from '../../src/offline/recipes.ts'

/** `!reset` is Compose's own. */
const parsing = { merge: true, customTags: [{ tag: '!reset', resolve: () => null }] }
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

/** What a Dockerfile starts its stages from, its own stages left out. */
function startsFrom(dockerfile: string, args: Record<string, string> = {}): string[] {
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
  const own = new Set(stages.map(([, , name]) => name))
  const images = stages.map(([, image = '']) => image.replace(/^\$(\w+)$/, (_all, name) => args[name] ?? ''))
  return [...new Set(images)].filter((image) => !own.has(image) && image !== 'scratch')
}

describe('the images that others make', () => {
  it('are those of the Compose files and Dockerfile, no more and no fewer', () => {
    const composed = ['docker-compose.yml', postgresqlFile].flatMap((file) => {
      const { services } = parse(read(repository, file), parsing) as { services: Record<string, { image?: string }> }
      return Object.values(services).flatMap((service) => service?.image ?? [])
    })
    const others = composed.filter((image) => !image.startsWith('localhost/'))
    const named = new Set([...others, ...startsFrom(read(repository, 'Dockerfile'))])
    expect([...named].sort()).to.deep.equal([...everyStackImage, ...observerImages].toSorted())
  })

  it('have Testcontainers’ reaper among them in the version that testcontainers asks for', () => {
    const reaper = read(repository, 'node_modules/testcontainers/build/reaper/reaper.js')
    const [, image] = /"(testcontainers\/ryuk:[^"]+)"/.exec(reaper) ?? []
    expect(testImages).to.include(image)
  })

  for (const [index, image] of [...testImages, prometheusImage].entries()) {
    const { folder, from, args } = recipeOf(image)
    it(`${image} has a recipe that says what it starts from, built before it`, () => {
      const dockerfile = from.length > 0 ? read(folder, 'Dockerfile') : ''
      expect(startsFrom(dockerfile, args)).to.have.members(from)
      expect(testImages.slice(0, index)).to.include.members(from)
    })
  }
})
