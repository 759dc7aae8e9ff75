import { describe, expect, it } from 'vitest';
import type { Dialog, DialogAnswer } from '../../../server/src/protocol/facts.ts';
import { fakeAgent, recordingLog, trace, traceNames } from './support.ts';

const request = (method: string, fields: object = {}, id = 'q1') => ({
  type: 'extension_ui_request',
  id,
  method,
  ...fields,
});
const login = { provider: 'acme', loginId: 'l1' };

async function asked(record: object) {
  const fake = fakeAgent();
  await fake.says(record);
  const dialog = fake.heard.flatMap((entry) => ('dialog' in entry ? [entry.dialog] : []))[0];
  const answer = (given: DialogAnswer, id = dialog?.id) =>
    fake.agent.answer({ ...(dialog as Dialog), openedAt: 0, id: id ?? '' }, given);
  return { ...fake, dialog, answer };
}

describe('questions', () => {
  it.each([
    [
      'select',
      { title: 'T', options: [' a\n', 'a', '', 'a'], timeout: 9 },
      { title: 'T', options: [' a\n', 'a', '', 'a'], timeout: 9 },
      { index: 0 },
      { value: ' a\n' },
    ],
    [
      'confirm',
      { title: 'T', message: 'M' },
      { title: 'T', message: 'M' },
      { confirmed: false },
      { confirmed: false },
    ],
    [
      'input',
      { title: 'T', placeholder: 'P', timeout: 0 },
      { title: 'T', placeholder: 'P' },
      { value: '' },
      { value: '' },
    ],
    [
      'editor',
      { title: 'T', prefill: 'a\nb' },
      { title: 'T', prefill: 'a\nb' },
      { value: 'c\n' },
      { value: 'c\n' },
    ],
    [
      'oauth_prompt',
      { ...login, prompt: { message: 'Host?', placeholder: 'P' } },
      { title: 'Host?', placeholder: 'P' },
      { value: 'h' },
      { value: 'h' },
    ],
    [
      'oauth_select',
      {
        ...login,
        prompt: {
          message: 'Which?',
          options: [
            { id: 'i', label: 'L' },
            { id: 'j', label: 'L' },
          ],
        },
      },
      { title: 'Which?', options: ['L', 'L'] },
      { index: 1 },
      { value: 'j' },
    ],
    [
      'oauth_manual_code',
      login,
      { title: expect.stringContaining('acme'), secret: true },
      { value: 'code' },
      { value: 'code' },
    ],
    [
      'newer_select',
      { title: 'T', options: ['x', 'y'] },
      { title: 'T', options: ['x', 'y'] },
      { index: 1 },
      { value: 'y' },
    ],
  ])('%s', async (method, fields, dialog, given, response) => {
    const { dialog: shown, answer, written, facts } = await asked(request(method, fields));
    expect(shown).toEqual({ id: 'q1', method, ...dialog });
    expect(facts()).toEqual([]);
    expect(answer(given)).toBe(true);
    expect(written).toEqual([{ type: 'extension_ui_response', id: 'q1', ...response }]);
    expect(answer(given), 'a second answer').toBe(false);
    expect(written).toHaveLength(1);
  });

  it('are refused as refused, and an answer that does not fit is no yes', async () => {
    for (const [method, given] of [
      ['confirm', { cancelled: true }],
      ['confirm', { value: 'yes' }],
      ['select', { index: 7 }],
      ['select', { value: 'not offered' }],
      ['input', {}],
    ] as const) {
      const { answer, written } = await asked(request(method, { title: 'T', options: ['a'] }));
      answer(given);
      expect(written).toEqual([{ type: 'extension_ui_response', id: 'q1', cancelled: true }]);
    }
  });

  it('that were never asked cannot be answered', async () => {
    const { answer, written } = await asked(request('confirm', { title: 'T' }));
    expect(answer({ confirmed: true }, 'other')).toBe(false);
    expect(written).toEqual([]);
  });

  it('of a login are withdrawn by the agent, those of another are not', async () => {
    const { says, heard } = await asked(request('oauth_manual_code', login));
    await says(request('oauth_manual_code', { ...login, loginId: 'l2' }, 'q2'));
    await says(request('oauth_manual_code_cancel', login, 'q3'));
    expect(heard.filter((entry) => 'withdrawn' in entry)).toEqual([{ withdrawn: 'q1' }]);
  });

  it('of an unknown kind are refused, shown as a fact and mentioned in the log', async () => {
    const log = recordingLog();
    const fake = fakeAgent(log);
    await fake.says(request('hologram', { title: 'secret' }));
    expect(fake.facts()).toEqual([
      { type: 'extension_ui_request', method: 'hologram', id: 'q1', title: 'secret' },
    ]);
    expect(fake.written).toEqual([{ type: 'extension_ui_response', id: 'q1', cancelled: true }]);
    expect(log.text()).toContain('hologram');
    expect(log.text()).not.toContain('secret');
  });
});

describe('announcements', () => {
  it.each([
    'notify',
    'setStatus',
    'setWidget',
    'setTitle',
    'set_editor_text',
    'oauth_auth',
    'oauth_device_code',
    'oauth_progress',
    'oauth_info',
  ])('%s is a fact and gets no response', async (method) => {
    const { facts, written, dialog } = await asked(request(method, { message: 'm', info: { url: 'u' } }));
    expect(facts()).toEqual([
      { type: 'extension_ui_request', method, id: 'q1', message: 'm', info: { url: 'u' } },
    ]);
    expect(written).toEqual([]);
    expect(dialog).toBeUndefined();
  });
});

it('every request of the recordings is understood', async () => {
  const log = recordingLog();
  const fake = fakeAgent(log);
  for (const name of traceNames())
    for (const { dir, line } of trace(name))
      if (dir === 'out' && line.includes('"extension_ui_request"')) await fake.says(JSON.parse(line));
  expect(fake.heard.length).toBeGreaterThan(100);
  expect(log.text()).toBe('');
});
