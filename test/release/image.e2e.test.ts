import { createOperator, docker, requireAcceptable, requireBoot } from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'

describeInContainers('the check of an image before it is pushed', () => {
  const built: string[] = []

  async function build(...lines: string[]): Promise<string> {
    const name = `orderflow-test-image-${process.pid}-${built.length}`
    const dockerfile = ['FROM node:24.21.0-bookworm-slim', 'RUN mkdir -p /app/components', ...lines].join('\n')
    const env = { DOCKERFILE: dockerfile, NAME: name }
    const { status, output } = await createOperator(env).bash('docker build -q -t "$NAME" - <<<"$DOCKERFILE"')
    expect(status, output).to.equal(0)
    built.push(name)
    return name
  }
  const refusal = (work: Promise<unknown>) => work.then(() => undefined).catch((error: Error) => error)

  after(async () => {
    for (const name of built) await docker(['image', 'rm', name])
  })

  it('rejects an image that runs as root', async () => {
    const error = await refusal(requireAcceptable(await build('USER root')))
    expect(error).to.include({ code: 'image', message: 'the image runs as root' })
  })

  it('rejects an image that ends at once, and shows its last lines', async () => {
    const image = await build('USER node', 'ENTRYPOINT ["sh", "-c", "echo the reason; exit 3"]')
    const error = await refusal(requireBoot('test-ends', image))
    expect(error).to.include({ code: 'image' })
    expect(error?.message).to.equal('the image exits after its start; its last lines:\nthe reason')
  })

  it('rejects an image that exits with an error after SIGTERM', async () => {
    const answer = "http.createServer((q, a) => a.end(JSON.stringify({ status: 'up' })))"
    const server = `process.on('SIGTERM', () => process.exit(3)); ${answer}.listen(process.env.PORT)`
    const image = await build(`ENTRYPOINT ["node", "-e", "${server}"]`)
    const error = await refusal(requireBoot('test-fails', image))
    expect(error?.message).to.include('the image ends with status 3 after SIGTERM')
  })

  it('removes the containers of the check', async () => {
    const names = await docker(['ps', '--all', '--format', '{{.Names}}'])
    expect(names).to.not.match(/orderflow-boot-check-test-/)
  })
})
