import { describe, expect, it } from 'vitest';
import { kvRoom } from '../../../src/http/kv-room.ts';
import { sampleProfile, sampleTarget } from '../../support/sample-config.ts';
import { sampleSeries, sampleView } from '../../support/sample-engine.ts';

const shape = { capacityTokens: null, memoryBytes: 2 ** 30, layers: 32, kvHeads: 8, headDim: 128, dtypeBytes: 2 };

describe('the room in the KV cache', () => {
  it('is what the engine says, over all ranks, in requests as long as the probes, in whole blocks', () => {
    const view = sampleView({ series: [sampleSeries(), sampleSeries({ dpRank: '1' })] });
    expect(kvRoom(sampleTarget(), view)).toEqual({
      capacityTokens: 16_384,
      requestTokens: 160,
      requestsThatFit: 102,
      shareOfOneMore: 160 / 16_384,
    });
  });

  it('is reckoned from the shape of the model where the engine does not say', () => {
    // 2 x 32 layers x 8 heads x 128 x 2 bytes are 128 KiB a token: 8192 tokens a GiB.
    const room = kvRoom(
      sampleTarget({ kvCache: shape }),
      sampleView({ series: [sampleSeries({ kvCapacityTokens: null })], cacheConfig: {} }),
    );
    expect(room).toMatchObject({ capacityTokens: 8192, requestsThatFit: 51 });
    expect(kvRoom(sampleTarget({ kvCache: { ...shape, capacityTokens: 320 } }), undefined)).toMatchObject({
      requestsThatFit: 2,
      shareOfOneMore: 0.5,
    });
  });

  it('is unknown when nobody tells', () => {
    const silent = sampleView({ series: [] });
    expect(kvRoom(sampleTarget(), silent)).toBeNull();
    expect(kvRoom(sampleTarget({ kvCache: { ...shape, layers: null } }), silent)).toBeNull();
    expect(kvRoom(sampleTarget({ profiles: [] }), sampleView())).toBeNull();
  });

  it('takes the longest of the profiles as its measure', () => {
    const profiles = [sampleProfile('short'), sampleProfile('long', { promptTokens: 4000, maxTokens: 96 })];
    expect(kvRoom(sampleTarget({ profiles }), sampleView())).toMatchObject({ requestTokens: 4096, requestsThatFit: 2 });
  });
});
