import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { defaultPorts } from '../../src/application/services.ts'
import { containersJaeger, localJaeger } from '../../src/observe/config.ts'

const placesIn = (text: string) => {
  const { receivers, extensions } = parse(text)
  const { http, ui } = extensions.jaeger_query
  return { otlp: receivers.otlp.protocols.http.endpoint, page: http.endpoint, assets: ui.assets_path as string }
}

describe('the configuration of Jaeger', () => {
  it('accepts connections only from this machine, and shows our page, if Jaeger is a process', () => {
    const { assets, ...places } = placesIn(localJaeger({ ...defaultPorts, otlp: 1, jaeger: 2 }))
    expect(places).to.deep.equal({ otlp: '127.0.0.1:1', page: '127.0.0.1:2' })
    expect(existsSync(join(assets, 'index.html'))).to.equal(true)
  })

  it('accepts connections from other containers, and shows the image’s page, if Jaeger is a container', () => {
    const places = { otlp: '0.0.0.0:4318', page: '0.0.0.0:6686', assets: `\${env:TRACE_PAGE:-}` }
    expect(placesIn(containersJaeger())).to.deep.equal(places)
  })
})
