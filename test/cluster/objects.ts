import type { Clients } from '@orderflow/cluster'
import { images } from '@orderflow/stack/machine'

// Objects of Kubernetes for tests. All programs run on Node.

interface Template {
  program: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  memory?: string
  namespace?: string
}

/** Returns a pod that every Pod Security Standard allows. */
export function podOf(name: string, { program, labels, annotations, memory, namespace = 'default' }: Template): object {
  const securityContext = { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name, ...labels }, annotations },
    spec: { terminationGracePeriodSeconds: 0, securityContext, containers: [containerOf(program, memory)] },
  }
}

export function deploymentOf(name: string, replicas: number, { program, memory }: Template): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 0, containers: [containerOf(program, memory)] },
      },
    },
  }
}

export function serviceOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
  }
}

/** A web server that answers with a JSON object. */
export const webServer = (answer: object) =>
  `require('http').createServer((_, response) => response.end(${JSON.stringify(JSON.stringify(answer))})).listen(8080)`

/** Returns the body of an answer that a pod gets, or the line `no answer`. */
export function fetchFrom({ kubectl }: Pick<Clients, 'kubectl'>, pod: string, url: string, namespace = 'default') {
  const program = `fetch('${url}', { signal: AbortSignal.timeout(3000) }).then((r) => r.text()).then(console.log, () => console.log('no answer'))`
  return kubectl('exec', pod, '--namespace', namespace, '--container=main', '--', 'node', '-e', program)
}

/** A program that does nothing until it ends. */
export const idle = 'setInterval(() => {}, 1e9)'

const containerOf = (program: string, memory?: string) => ({
  name: 'main',
  image: images.node,
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  command: ['node', '-e', program],
  ...(memory && { resources: { limits: { memory } } }),
  ...(program.includes('listen(8080)') && {
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  }),
})
