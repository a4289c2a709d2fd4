import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '@orderflow/stack'
import { expect } from 'chai'

/** Each may know those before it. What goes into an image knows nothing but the service there. */
const rooms = ['image', 'src/lib', 'src/record', 'src/settings', 'src/platform', 'src/image', 'src/commands', 'src']

const release = join(repository, 'release')
const names = readdirSync(release, { recursive: true, encoding: 'utf8' })
const files = names.filter((name) => /^(src|image)\/.*\.ts$/.test(name))

/** The files of this package that one imports, types too. */
function importsOf(file: string): string[] {
  const specifiers = readFileSync(join(release, file), 'utf8').matchAll(/ from '(\.[^']+)'/g)
  return [...specifiers].map(([, specifier = '']) => relative(release, join(release, dirname(file), specifier)))
}

/** A way from a file back to itself. */
function circleOf(file: string, way: string[] = []): string | undefined {
  if (file === way[0]) return [...way, file].join(' -> ')
  if (way.includes(file)) return undefined
  return importsOf(file)
    .map((next) => circleOf(next, [...way, file]))
    .find(Boolean)
}

describe('the rooms of the release', () => {
  it('know those before them only', () => {
    const wrong = files.flatMap((file) => {
      const known = rooms.slice(0, rooms.indexOf(dirname(file)) + 1)
      const strangers = importsOf(file).filter((imported) => !known.includes(dirname(imported)))
      return strangers.map((imported) => `${file} imports ${imported}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('have no circles, of types neither', () => {
    expect(files.flatMap((file) => circleOf(file) ?? [])).to.deep.equal([])
  })
})
