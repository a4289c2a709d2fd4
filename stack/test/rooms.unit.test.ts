import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect } from 'chai'
import { repository } from '../src/lib/paths.ts'

/** Which other rooms of stack/src a room may use. */
const uses: Record<string, string[]> = {
  lib: [],
  kafka: ['lib'],
  provision: ['lib'],
  offline: ['lib', 'provision'],
  processes: ['lib', 'kafka', 'provision'],
  containers: ['lib', 'kafka', 'provision', 'offline'],
  generate: ['lib', 'kafka', 'processes', 'containers'],
  'new-service': ['lib'],
  commands: ['lib', 'kafka', 'provision', 'processes', 'containers', 'generate', 'new-service'],
}

const source = join(repository, 'stack/src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) =>
    file.endsWith('.ts') &&
    file.includes('/') &&
    !file.startsWith('offline/images/') &&
    !file.startsWith('new-service/template/'),
)
/** What a file imports of the others, types included. */
const imports = new Map(
  files.map((file) => {
    const found = readFileSync(join(source, file), 'utf8').matchAll(/^(?:import|export)\b[^']*'(\.[^']+\.ts)'$/gm)
    return [file, [...found].map(([, path = '']) => relative(source, join(source, dirname(file), path)))]
  }),
)
const roomOf = (file: string) => file.split('/')[0] ?? ''

describe('the rooms of stack/src', () => {
  it('use each other in one direction', () => {
    const against = [...imports].flatMap(([file, found]) =>
      found
        .filter((other) => roomOf(other) !== roomOf(file) && !uses[roomOf(file)]?.includes(roomOf(other)))
        .map((other) => `${file} imports ${other}`),
    )
    expect(against).to.deep.equal([])
  })

  it('have no files that import each other in a circle', () => {
    const circles: string[] = []
    const done = new Set<string>()
    function follow(file: string, path: string[]): void {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      if (done.has(file) || path.includes(file)) return
      for (const other of imports.get(file) ?? []) follow(other, [...path, file])
      done.add(file)
    }
    for (const file of files) follow(file, [])
    expect(circles).to.deep.equal([])
  })
})
