import { expect } from 'chai'
import { images, stackImages, testImages } from '../../src/application/images.ts'
import { ensureImages, imageDigests, imageNotes, pullStackImages } from '../../src/containers/images.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { fakeDocker } from './fake-docker.ts'

const unreachable = 'Error response from daemon: Get "https://registry/v2/": dial tcp: lookup registry: no such host'
/** Two images whose recipes need only docker. */
const simple = [images.mongo, images.reaper]

describe('ensureImages', () => {
  let docker: ReturnType<typeof fakeDocker>
  let cache: string | undefined
  let told: string[]
  const ensure = (names: string[]) => ensureImages({ onProgress: (line) => told.push(line) }, names)

  beforeEach(() => {
    const folder = temporaryFolder()
    cache = process.env.ORDERFLOW_CACHE
    process.env.ORDERFLOW_CACHE = folder
    docker = fakeDocker(folder)
    told = []
  })
  afterEach(() => {
    docker.restore()
    if (cache === undefined) delete process.env.ORDERFLOW_CACHE
    else process.env.ORDERFLOW_CACHE = cache
    removeFolders()
  })

  it('pulls missing images and keeps present ones', async () => {
    const present = await ensure(simple)
    expect(docker.calls()).to.have.members(simple.map((name) => `pull ${name}`))
    expect(present.map(({ name, origin, standIn }) => [name, origin, standIn])).to.deep.equal([
      [images.mongo, 'registry', undefined],
      [images.reaper, 'registry', undefined],
    ])
    await ensure(simple)
    expect(docker.calls()).to.have.length(2)
  })

  it('pulls an image by its digest if the digest is known', async () => {
    const before = imageDigests[images.reaper] ?? ''
    const digest = `sha256:${'5'.repeat(64)}`
    try {
      imageDigests[images.reaper] = digest
      await ensure([images.reaper])
    } finally {
      imageDigests[images.reaper] = before
    }
    const pinned = `testcontainers/ryuk@${digest}`
    expect(docker.calls()).to.deep.equal([`pull ${pinned}`, `tag ${pinned} ${images.reaper}`])
  })

  it('finds an entry in image-digests.json for every image', () => {
    expect(Object.keys(imageDigests)).to.have.members([...testImages, images.jaeger, images.prometheus, images.grafana])
    for (const digest of Object.values(imageDigests)) expect(digest).to.match(/^(sha256:[0-9a-f]{64})?$/)
  })

  it('builds images that it cannot pull, and reports which of them is a stand-in', async () => {
    docker.refuse(unreachable)
    const present = await ensure(simple)
    const builds = simple.map((name) => `build ${name}`)
    expect(docker.calls().slice(2)).to.deep.equal(builds)
    expect(present.map(({ origin }) => origin)).to.deep.equal(['recipe', 'recipe'])
    expect(present[0]?.standIn).to.match(/^SecantusDB \d/)
    expect(told.filter((line) => line.startsWith('warning:'))).to.deep.equal([
      `warning: ${images.mongo} cannot be pulled: ${unreachable}`,
    ])
    await ensure(simple)
    expect(docker.calls()).to.have.length(4)
  })

  it('builds an image again if its recipe has changed, and removes the previous image', async () => {
    docker.refuse(unreachable)
    docker.have(images.reaper, { 'orderflow.recipe': 'an older one' })
    await ensure([images.reaper])
    expect(docker.calls()).to.deep.equal([
      `pull ${images.reaper}`,
      `build ${images.reaper}`,
      `image rm sha256:old-${images.reaper}`,
    ])
    expect(docker.labelsOf(images.reaper)?.['orderflow.recipe']).to.match(/^[0-9a-f]{16}$/)
  })

  it('builds an image once for two simultaneous calls', async () => {
    docker.refuse(unreachable)
    const both = await Promise.all([ensure([images.reaper]), ensure([images.reaper])])
    expect(docker.calls().filter((call) => call.startsWith('build'))).to.have.length(1)
    expect(both.flat().map(({ origin }) => origin)).to.deep.equal(['recipe', 'recipe'])
    expect(told.join('\n')).to.match(/images: waiting for process \d+, which pulls or builds them/)
  })

  describe('pullStackImages', () => {
    const use = () => pullStackImages({ onProgress: (line) => told.push(line) })

    it('pulls all images, or reports which images are missing and why', async () => {
      docker.refuse(unreachable)
      expect(await use()).to.equal(`${images.base} cannot be pulled: ${unreachable}`)
      expect(await imageNotes()).to.deep.equal(stackImages().map((name) => `${name} is missing: make up pulls it`))
      docker.refuse('')
      expect(await use()).to.equal(undefined)
      expect(await imageNotes()).to.deep.equal([])
      const pulls = docker.calls().length
      expect(await use()).to.equal(undefined)
      expect(docker.calls()).to.have.length(pulls)
    })

    it('pulls nothing if one of the images is a stand-in', async () => {
      docker.have(images.mongo, { 'orderflow.recipe': 'x', 'orderflow.stand-in': 'SomethingElse 1.0' })
      expect(await use()).to.equal(`${images.mongo} is a stand-in here (SomethingElse 1.0)`)
      expect(docker.calls()).to.deep.equal([])
      expect(await imageNotes()).to.include(
        `${images.mongo} is a stand-in here (SomethingElse 1.0): only STACK=docker uses it`,
      )
    })
  })
})
