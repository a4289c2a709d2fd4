import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the HTML files of a folder, by their paths in the folder. */
export const htmlFiles = (folder: string): string[] => globSync('**/*.html', { cwd: folder }).sort()

/** Returns all links of the HTML files in a folder that lead to missing files or headings. The folder is the root of the host. */
export function brokenLinks(folder: string): string[] {
  const ids = new Map<string, Set<string>>()
  const idsOf = (file: string) => {
    const known = ids.get(file) ?? new Set(attributes(readFileSync(join(folder, file), 'utf8'), 'id'))
    ids.set(file, known)
    return known
  }
  return htmlFiles(folder).flatMap((file) => {
    const html = readFileSync(join(folder, file), 'utf8')
    const links = ['href', 'src', 'srcset'].flatMap((name) => attributes(html, name))
    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false
      const [path = '', anchor = ''] = link.split('#')
      const target = path === '' ? file : path.startsWith('/') ? path.slice(1) : join(dirname(file), path)
      const page = isFolder(join(folder, target)) ? join(target, 'index.html') : target
      if (!existsSync(join(folder, page))) return true
      return anchor !== '' && !idsOf(page).has(decodeURIComponent(anchor))
    })
    return broken.map((link) => `${file}: ${link}`)
  })
}

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()

const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value.replaceAll('&amp;', '&'))
