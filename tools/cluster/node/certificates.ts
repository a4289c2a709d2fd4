import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'

interface Pair {
  cert: string
  key: string
}

interface Subject {
  name: string
  /** The group of a client in Kubernetes. */
  organization?: string
}

const days = 30
const notAfterDate = () => new Date(Date.now() + days * 24 * 60 * 60 * 1000)

async function makePair(subject: Subject, extensions: object[], ca?: Pair): Promise<Pair> {
  const attributes = [
    { name: 'commonName', value: subject.name },
    ...(subject.organization ? [{ name: 'organizationName', value: subject.organization }] : []),
  ]
  const pair = await generate(attributes, {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: notAfterDate(),
    extensions: extensions as never,
    ...(ca && { ca }),
  })
  return { cert: pair.cert, key: pair.private }
}

const makeCa = (name: string) =>
  makePair({ name }, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, digitalSignature: true, critical: true },
  ])

const makeClient = (subject: Subject, ca: Pair) => makePair(subject, [{ name: 'extKeyUsage', clientAuth: true }], ca)

function makeServer(name: string, names: string[], addresses: string[], ca: Pair): Promise<Pair> {
  const altNames = [...names.map((value) => ({ type: 2, value })), ...addresses.map((ip) => ({ type: 7, ip }))]
  return makePair(
    { name },
    [
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
    ca,
  )
}

export interface ClusterAddresses {
  /** The address of the API server. */
  server: string
  /** The address of the Service `kubernetes`. */
  service: string
}

export type Certificates = Awaited<ReturnType<typeof writeCertificates>>

/** Writes the certificates and keys of the control plane, and the kubeconfig of each of its clients. */
export async function writeCertificates(folder: string, { server, service }: ClusterAddresses) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const [ca, front] = await Promise.all([makeCa('kubernetes-ca'), makeCa('front-proxy-ca')])
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const writePair = (name: string, { cert, key }: Pair) => ({
    cert: write(`${name}.crt`, cert),
    key: write(`${name}.key`, key),
  })
  const kubeconfig = async (name: string, subject: Subject) => {
    const { cert, key } = await makeClient(subject, ca)
    return write(`${name}.kubeconfig`, kubeconfigOf(`https://${server}:6443`, ca.cert, { cert, key }))
  }
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const accounts = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    ca: writePair('ca', ca),
    front: writePair('front-proxy-ca', front),
    apiServer: writePair(
      'apiserver',
      await makeServer('kube-apiserver', ['localhost', ...names], ['127.0.0.1', server, service], ca),
    ),
    kubeletClient: writePair(
      'kubelet-client',
      await makeClient({ name: 'kube-apiserver-kubelet-client', organization: 'system:masters' }, ca),
    ),
    frontClient: writePair('front-proxy-client', await makeClient({ name: 'front-proxy-client' }, front)),
    /** The key that signs the tokens of service accounts, and the key that verifies them. */
    accounts: {
      key: write('service-accounts.key', accounts),
      publicKey: write(
        'service-accounts.pub',
        createPublicKey(accounts).export({ type: 'spki', format: 'pem' }).toString(),
      ),
    },
    admin: await kubeconfig('admin', { name: 'admin', organization: 'system:masters' }),
    controllerManager: await kubeconfig('controller-manager', { name: 'system:kube-controller-manager' }),
    scheduler: await kubeconfig('scheduler', { name: 'system:kube-scheduler' }),
    proxy: await kubeconfig('proxy', { name: 'system:kube-proxy' }),
    /** Writes the files of a node's kubelet. */
    async node(name: string, address: string) {
      return {
        kubeconfig: await kubeconfig(name, { name: `system:node:${name}`, organization: 'system:nodes' }),
        server: writePair(`${name}-server`, await makeServer(name, [name], [address, '127.0.0.1'], ca)),
      }
    },
  }
}

/** The context of each kubeconfig. */
export const contextName = 'orderflow'

function kubeconfigOf(server: string, ca: string, { cert, key }: Pair): string {
  const data = (text: string) => Buffer.from(text).toString('base64')
  // kubectl also reads JSON.
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'orderflow', cluster: { server, 'certificate-authority-data': data(ca) } }],
    users: [{ name: 'user', user: { 'client-certificate-data': data(cert), 'client-key-data': data(key) } }],
    contexts: [{ name: contextName, context: { cluster: 'orderflow', user: 'user' } }],
    'current-context': contextName,
  })
}
