import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '@orderflow/stack/base'
import { programFile } from './programs/programs.ts'

export interface Clients {
  /** The file with which other programs of this machine reach the cluster. */
  kubeconfig: string
  /** Runs kubectl, and returns its output. */
  kubectl: (...args: string[]) => Promise<string>
  /** Runs helm, and returns its output. */
  helm: (...args: string[]) => Promise<string>
  /** Returns an object of the cluster, or a list of objects, as JSON. */
  get: <Content>(...args: string[]) => Promise<Content>
  /** Creates or changes the objects of a YAML text or of a list. */
  applyManifest: (objects: string | object[], ...args: string[]) => Promise<void>
}

/** Returns clients that write only into `folder`. They use the cluster's own kubectl, unless another one is given. */
export function createClients(
  folder: string,
  kubeconfig: string,
  program = programFile('hyperkube', 'kubectl'),
): Clients {
  const own = (name: string) => join(folder, 'clients', name)
  const env = {
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: own('kubectl'),
    HELM_CACHE_HOME: own('helm-cache'),
    HELM_CONFIG_HOME: own('helm-config'),
    HELM_DATA_HOME: own('helm-data'),
  }
  const kubectl = (...args: string[]) => runTool(program, args, { cwd: '/', env })
  let applied = 0
  return {
    kubeconfig,
    kubectl,
    helm: (...args) => runTool(programFile('helm'), args, { cwd: '/', env }),
    get: async <Content>(...args: string[]) => JSON.parse(await kubectl('get', '--output=json', ...args)) as Content,
    async applyManifest(objects, ...args) {
      applied += 1
      const file = join(folder, `applied-${applied}.yaml`)
      const list =
        typeof objects === 'string' ? objects : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
      writeFileSync(file, list, { mode: 0o600 })
      await kubectl('apply', '--server-side', '--force-conflicts', '--filename', file, ...args)
      rmSync(file)
    },
  }
}
