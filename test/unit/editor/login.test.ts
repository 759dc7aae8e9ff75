// The page of a login: opened where the person asked for it, and nowhere else.
import { expect, it } from 'vitest';
import { attached, type FakeEditor, startEditor } from './support.ts';

const shows = { 'window/showDocument': () => ({ success: true }) };
const capabilities = { window: { showDocument: { support: true } } };
const auth = (url: string) =>
  ({ type: 'extension_ui_request', method: 'oauth_auth', url, instructions: 'Sign in.' }) as const;

async function loggingIn(editor: FakeEditor): Promise<void> {
  await attached(editor);
  const { intent } = (await editor.execute('atomic.loginProvider', 'anthropic')) as { intent: string };
  editor.hub.append({ type: 'intent_accepted', intent, command: 'login_provider' });
}

it.each([{ options: {} }, { options: { client: { name: 'rich', events: true } } }])(
  'opens outside of the editor that logs in (%j)',
  async ({ options }) => {
    const editor = await startEditor({ capabilities, answers: shows, options });
    await loggingIn(editor);
    editor.hub.append(auth('https://example.org/login?a=b'));
    expect(await editor.until('window/showDocument')).toEqual([
      { uri: 'https://example.org/login?a=b', external: true },
    ]);
  },
);

it('opens nothing that is no web page, and nothing for a login of another editor', async () => {
  const editor = await startEditor({ capabilities, answers: shows });
  await attached(editor);
  editor.hub.append({ type: 'intent_accepted', intent: 'theirs', command: 'login_provider' });
  editor.hub.append(auth('https://example.org/theirs'));
  await editor.until('window/showMessage');
  await loggingIn(editor);
  editor.hub.append(auth('file:///etc/passwd'), auth('https://example.org/ours'));
  expect(await editor.until('window/showDocument')).toEqual([
    { uri: 'https://example.org/ours', external: true },
  ]);
});

it('names the page where the editor cannot open it', async () => {
  const editor = await startEditor({ capabilities });
  await loggingIn(editor);
  editor.hub.append(auth('https://example.org/login'));
  await editor.when(() => editor.messages().some((text) => text.includes('https://example.org/login')));
});
