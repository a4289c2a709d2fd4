import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '@orderflow/stack/base'

export interface Package {
  folder: string
  name: string
  dependencies: string[]
  devDependencies: string[]
  /** Packages that the package’s users may install. `dependencies` contains them too. */
  peers: string[]
  files: SourceFile[]
}

export interface SourceFile {
  path: string
  text: string
  /** Files that the file imports by relative paths, including imports of types. Paths are relative to the repository. */
  imports: string[]
  /** All other imports as they are written: Node’s modules and packages. */
  specifiers: string[]
}

/** Returns the names of imported packages: `chai`, or `@orderflow/stack` for `@orderflow/stack/browser`. */
export function packagesOf({ specifiers }: SourceFile): string[] {
  const others = specifiers.filter((specifier) => !specifier.startsWith('node:'))
  return others.map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
}

/** Returns the dependencies in a folder’s package.json. */
export function declaredIn(folder: string): Omit<Package, 'folder' | 'files'> {
  const text = readFileSync(join(repository, folder, 'package.json'), 'utf8')
  const { name, dependencies = {}, peerDependencies = {}, devDependencies = {} } = JSON.parse(text)
  return {
    name,
    dependencies: Object.keys({ ...dependencies, ...peerDependencies }),
    peers: Object.keys(peerDependencies),
    devDependencies: Object.keys(devDependencies),
  }
}

export function readPackages(): Package[] {
  const parents = ['.', 'packages', 'tools'].flatMap((parent) =>
    readdirSync(join(repository, parent)).map((name) => join(parent, name)),
  )
  const folders = parents.filter((folder) => existsSync(join(repository, folder, 'package.json')))
  return folders.map((folder) => ({ folder, ...declaredIn(folder), files: readFiles(folder) }))
}

/** Reads the files of a package. Leaves out its dependencies and the files of other programs, such as templates. */
function readFiles(folder: string): SourceFile[] {
  const names = readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
  return names
    .filter(
      (name) =>
        /\.m?tsx?$|\.mjs$/.test(name) &&
        !/node_modules\/|(^|\/)template\/|templates\/new-service\/|compare\/nestjs\/|^vitepress\//.test(name),
    )
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(repository, path), 'utf8')
      const all = specifiersIn(text)
      const relatives = all.filter((specifier) => specifier.startsWith('.'))
      return {
        path,
        text,
        imports: relatives.map((specifier) => relative(repository, join(repository, dirname(path), specifier))),
        specifiers: all.filter((specifier) => !specifier.startsWith('.')),
      }
    })
}

function specifiersIn(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s(?:[^'"`;=()]*\sfrom\s)?'([^']+)'/gm)
  const calls = text.matchAll(/\bimport\('([^']+)'\)/g)
  return [...statements, ...calls].map(([, specifier = '']) => specifier)
}

export function circlesIn(graph: Map<string, string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  function follow(place: string, way: string[]): void {
    if (way.includes(place)) circles.push([...way.slice(way.indexOf(place)), place].join(' -> '))
    if (done.has(place) || way.includes(place)) return
    for (const next of graph.get(place) ?? []) follow(next, [...way, place])
    done.add(place)
  }
  for (const place of graph.keys()) follow(place, [])
  return circles
}
