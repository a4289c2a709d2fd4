import { eventually } from '@orderflow/stack/base'
import { getContainerRuntimeClient } from 'testcontainers'

/** The parts of Docker’s description of a container that tests use. */
export interface InspectedContainer {
  Id: string
  Name: string
  Path: string
  Args: string[]
  State: { Running: boolean; StartedAt: string }
  Config: { Env: string[]; Labels: Record<string, string> }
  HostConfig: { PortBindings?: Record<string, { HostIp?: string }[]> }
}

/** Returns the running and stopped containers of a Compose project, for one service or for all services. */
export async function inspectContainers(project: string, service?: string): Promise<InspectedContainer[]> {
  const { container: client } = await getContainerRuntimeClient()
  const label = [`com.docker.compose.project=${project}`]
  if (service) label.push(`com.docker.compose.service=${service}`)
  const found = await client.dockerode.listContainers({ all: true, filters: { label } })
  return Promise.all(found.map(({ Id }) => client.getById(Id).inspect()))
}

export async function openContainer(project: string, service: string) {
  const [found] = await inspectContainers(project, service)
  if (!found) throw new Error(`${project} has no container ${service}`)
  const { container: client } = await getContainerRuntimeClient()
  const container = client.getById(found.Id)

  return {
    id: found.Id,

    start: async () => void (await container.start()),

    /** Sends a signal to the first process of the container. If the signal ends this process, waits until it has ended. */
    async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
      await container.kill({ signal })
      if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return
      await eventually(async () => !(await container.inspect()).State.Running, `${service} to end by ${signal}`)
    },

    async exec(command: string[], env: Record<string, string> = {}): Promise<string> {
      const { exitCode, stdout, stderr } = await client.exec(container, command, { env })
      if (exitCode !== 0) throw new Error(`${command[0]} in ${service} exited with ${exitCode}: ${stdout}${stderr}`)
      return stdout
    },
  }
}
