import { expect } from 'chai'
import { sidecarTraceVariables, traceProblems, traceSettings } from '../../src/telemetry/trace-settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example' }

describe('trace settings', () => {
  it('traceSettings returns undefined if no collector is set, whatever the other variables are', () => {
    expect(traceSettings({ OTEL_TRACES_SAMPLER: 'always_on' })).to.equal(undefined)
    expect(traceSettings({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).to.equal(undefined)
    expect(traceProblems({ OTEL_TRACES_SAMPLER: 'sometimes' })).to.deep.equal([])
    expect(sidecarTraceVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).to.deep.equal({})
  })

  const samplers: [variables: NodeJS.ProcessEnv, asksParent: boolean, ratio: number][] = [
    [{}, true, 0.1],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.5' }, true, 0.5],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, false, 1],
    [{ OTEL_TRACES_SAMPLER: 'always_off', OTEL_TRACES_SAMPLER_ARG: '0.5' }, false, 0],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, false, 0],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, true, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, true, 0.25],
  ]
  for (const [variables, asksParent, ratio] of samplers) {
    it(`traceSettings returns the ratio ${ratio} for ${JSON.stringify(variables)}`, () => {
      expect(traceSettings({ ...endpoint, ...variables })).to.deep.equal({ asksParent, ratio, delayMs: 5_000 })
      expect(traceProblems({ ...endpoint, ...variables })).to.deep.equal([])
    })
  }

  const wrong: [variables: NodeJS.ProcessEnv, problem: RegExp][] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: must be a URL/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL: must be http\/protobuf/],
    [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /^OTEL_TRACES_SAMPLER: must be one of always_on, /],
    [{ OTEL_TRACES_SAMPLER_ARG: '10 %' }, /^OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1/],
    [{ OTEL_BSP_SCHEDULE_DELAY: 'soon' }, /^OTEL_BSP_SCHEDULE_DELAY: must be a number of milliseconds/],
    [{ OTEL_TRACES_SAMPLER_ARG: '10' }, /^OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1/],
  ]
  for (const [variables, problem] of wrong) {
    it(`traceProblems refuses ${JSON.stringify(variables)}, and names the variable to correct`, () => {
      const problems = traceProblems({ ...endpoint, ...variables })
      expect(problems).to.have.lengthOf(1)
      expect(problems[0]).to.match(problem)
    })
  }

  it('sidecarTraceVariables makes a sidecar use the same collector', () => {
    expect(sidecarTraceVariables(endpoint)).to.deep.equal({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })
    expect(sidecarTraceVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9411' })).to.deep.equal({
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_INSECURE: 'true',
    })
  })
})
