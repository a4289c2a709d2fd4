import { delimiter, dirname } from 'node:path'
import { type Cluster, clientFolders } from '@orderflow/cluster'

/** Returns the variables with which commands such as `make up` use a cluster without a question. */
export async function environmentOf(cluster: Cluster): Promise<Record<string, string>> {
  return {
    PATH: [...clientFolders(), dirname(process.execPath), process.env.PATH].join(delimiter),
    CONFIRM: (await cluster.kubectl('config', 'current-context')).trim(),
    KUBECONFIG: cluster.kubeconfig,
    // Otherwise make would pass on the variables of the make that runs these tests, such as PART.
    MAKEFLAGS: '',
    PART: '',
  }
}
