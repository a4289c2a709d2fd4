import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { localFolder, repository } from '@orderflow/stack/base'
import { contextName } from '../node/certificates.ts'
import { clientFolders } from '../programs/programs.ts'

/** The file with the variables of the cluster and its servers. A shell reads it with `. .stack/cluster.sh`. */
export const exportsFile = join(localFolder, 'cluster.sh')

export const shownExportsFile: string = relative(repository, exportsFile)

/** Writes a command of a shell that exports the variable. */
export const exportLine = (name: string, value: string): string => `export ${name}='${value.replaceAll("'", "'\\''")}'`

/** Returns the lines with which `kubectl`, `helm` and `make up` use a cluster of this machine. */
export function linesOfCluster(kubeconfig: string): string[] {
  return [
    exportLine('KUBECONFIG', kubeconfig),
    `${exportLine('PATH', clientFolders().join(':'))}:"$PATH"`,
    // Otherwise `make up` would ask, because the address of the cluster is not a loopback address.
    exportLine('CONFIRM', contextName),
  ]
}

/** Writes the file, which only its owner can read. */
export function writeExports(lines: readonly string[]): void {
  mkdirSync(dirname(exportsFile), { recursive: true })
  // The mode applies only to a new file.
  removeExports()
  writeFileSync(exportsFile, `${lines.join('\n')}\n`, { mode: 0o600 })
}

export const removeExports = (): void => rmSync(exportsFile, { force: true })
