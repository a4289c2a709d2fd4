import { services } from '@orderflow/stack'
import { serviceImage } from '@orderflow/stack/internals'
import { images } from '@orderflow/stack/machine'
import { clusterVersions, daprPrograms, type ProgramName, programFile } from '../programs/programs.ts'

/** An image that contains one program of the cluster. */
export interface ProgramImage {
  /** Names of the same image. */
  names: string[]
  program: ProgramName
  /** The file of the program, if it has another name than the program. */
  file?: string
  /** Other names under which the image contains the program. */
  links?: readonly string[]
  user: string
}

const root = '0:0'
const nonRoot = '65532:65532'
const { coredns, dapr, keda, networkPolicies } = clusterVersions

export const pauseImage = 'localhost/cluster/pause:1'
export const corednsImage = `localhost/cluster/coredns:${coredns}`
export const kedaImage = `localhost/cluster/keda:${keda}`
export const kedaAdapterImage = `localhost/cluster/keda-adapter:${keda}`
export const networkPoliciesImage = `localhost/cluster/kube-network-policies:${networkPolicies}`
/** The registry in the names of Dapr's control plane. Its chart adds the name of the program. */
export const daprRegistry = 'daprio'
const daprImages = daprPrograms.map((program) => `${daprRegistry}/${program}:${dapr}`)

const programImages: ProgramImage[] = [
  { names: [pauseImage], program: 'pause', user: nonRoot },
  { names: [corednsImage], program: 'coredns', user: nonRoot },
  { names: daprImages, program: 'dapr', links: daprPrograms, user: nonRoot },
  { names: [kedaImage], program: 'keda', file: 'operator', links: ['keda'], user: nonRoot },
  { names: [kedaAdapterImage], program: 'keda', file: 'adapter', links: ['keda-adapter'], user: nonRoot },
  { names: [networkPoliciesImage], program: 'networkPolicies', file: 'cmd', user: root },
]

export const fileOf = ({ program, file }: ProgramImage): string => programFile(program, file)

export const programImageOf = (name: string): ProgramImage | undefined =>
  programImages.find(({ names }) => names.includes(name))

/** The images that Dapr needs. The first name selects the image with all programs of the control plane. */
export const imagesOfDapr = [daprImages[0] as string, images.daprd]

export const setupImage = serviceImage('setup')

/** The arguments with which the Dockerfile builds our own images. */
export const ownImages: Readonly<Record<string, { service: string; target: string }>> = {
  [setupImage]: { service: 'packages/cli', target: 'setup' },
  ...Object.fromEntries(
    services.map(({ name, folder }) => [serviceImage(name), { service: folder, target: 'service' }]),
  ),
}

/** The images of the servers in manifests/. */
export const serverImages = { kafka: images.kafka, postgresql: images.postgresql, mongo: images.mongo }

/** Returns the name with registry and tag, as containerd and the kubelet write it. */
export function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/')
  const hasRegistry = rest.length > 0 && (first === 'localhost' || /[.:]/.test(first))
  const path = hasRegistry ? name : `docker.io/${rest.length > 0 ? name : `library/${name}`}`
  return /:[^/]+$/.test(path) ? path : `${path}:latest`
}
