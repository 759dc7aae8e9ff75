// Several features answer one question; what one cannot, the others still do.
import { describe, expect, it } from 'vitest';
import { type Feature, joinFeatures } from '../../../server/src/editor/features.ts';

const warnings: unknown[] = [];
const log = { debug() {}, info() {}, warn: (entry: object) => void warnings.push(entry), error() {} };
const signal = new AbortController().signal;
const link = (line: number) => ({
  range: { start: { line, character: 0 }, end: { line, character: 1 } },
});

describe('joinFeatures', () => {
  it('announces what is answered and nothing else', () => {
    const features = joinFeatures([{ 'textDocument/hover': () => null }], log as never);
    expect(features.capabilities).toEqual({ hoverProvider: true });
    expect(joinFeatures([], log as never).capabilities).toEqual({});
  });

  it('joins lists, and takes the first hover that says something', async () => {
    const one: Feature = {
      'textDocument/documentLink': () => [link(1)],
      'textDocument/hover': () => null,
      'textDocument/completion': () => ({ isIncomplete: true, items: [{ label: 'a' }] }),
    };
    const two: Feature = {
      'textDocument/documentLink': async () => [link(2)],
      'textDocument/hover': () => ({ contents: 'two' }),
      'textDocument/completion': () => null,
    };
    const features = joinFeatures([one, two], log as never);
    expect(await features.answer('textDocument/documentLink', {}, signal)).toEqual([link(1), link(2)]);
    expect(await features.answer('textDocument/hover', {}, signal)).toEqual({ contents: 'two' });
    expect(await features.answer('textDocument/completion', {}, signal)).toEqual({
      isIncomplete: true,
      items: [{ label: 'a' }],
    });
    expect(await features.answer('textDocument/inlayHint', {}, signal)).toEqual([]);
  });

  it('keeps the answers of the others when one fails', async () => {
    const failing: Feature = {
      'textDocument/documentLink': () => {
        throw new Error('broken');
      },
    };
    const features = joinFeatures([failing, { 'textDocument/documentLink': () => [link(2)] }], log as never);
    expect(await features.answer('textDocument/documentLink', {}, signal)).toEqual([link(2)]);
    expect(warnings).toHaveLength(1);
  });
});
