// A chat, its history, several choices, side by side, and errors.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { EMAIL, NAME, TEXT, client, messages } from './common.mjs';

const ask = (model, asked, more = {}) => client.chat.completions.create({ model, messages: asked, ...more });

const { data, response } = await ask('echo', messages).withResponse();
assert.equal(data.choices[0].message.content, TEXT);
assert.equal(response.headers.get('x-request-id'), 'req_upstream');
assert.match(response.headers.get('x-caviardage-entities'), /IBAN_CODE=1/);

const more = `And again for ${NAME}, ${EMAIL}.`;
const turns = [...messages, data.choices[0].message, { role: 'user', content: more }];
assert.equal((await ask('echo', turns)).choices[0].message.content, more);

const several = await ask('echo;ascii=1', messages, { n: 3 });
assert.deepEqual(several.choices.map((choice) => choice.message.content), [TEXT, TEXT, TEXT]);

const numbered = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `${number}: ${TEXT}`);
const answers = await Promise.all(numbered.map((content) => ask('echo', [{ role: 'user', content }])));
assert.deepEqual(answers.map((answer) => answer.choices[0].message.content), numbered);

assert.equal((await ask('echo;status=429;retry=0.01;fail=2;key=node', messages)).choices[0].message.content, TEXT);
await assert.rejects(ask('echo;status=401', messages), OpenAI.AuthenticationError);
await assert.rejects(ask('echo', messages, { max_tokens: 200000 }), (error) => {
  assert(error instanceof OpenAI.BadRequestError);
  assert.equal(error.code, 'context_length_exceeded');
  return true;
});
await assert.rejects(client.images.generate({ prompt: TEXT }), { code: 'unsupported_by_policy' });
