extension ChatSlice {
    /// #ubuntu on 2004-12-25.
    static let day20041225 = #"""
        09:14=crimsun kleedrac: I'm afraid not. Any version of mplayer except for -k7* should work for your cpu
        09:14=intinig does a subversion gnome client exist?
        09:14=kleedrac crimsun: Hmmm ... I wonder why it does that?
        09:15=will best media player: VLC /get wxvlc) It plays everything!
        09:15=|QuaD- will: totem has caused me no troubles
        09:15=|QuaD- totem xine
        09:15=crimsun kleedrac: good question.
        09:15=Tsjoklate |QuaD same here.. totem-xine werkt geweldig
        09:15=crimsun intinig: I don't see one in warty or hoary
        09:15=kleedrac xine is working great for video and xmms works great for mp3's but some of my music is in .wma as my wife ripped it
        09:15+L0sT
        09:16=will xine is very good, with w32codecs
        09:16=|QuaD- kleedrac: heh.. never needed a wma file played
        09:16=will but post processing with VLC is the way forward, it uses its own codecs (builtin)
        09:16=kleedrac Quad: consider yourself lucky :) worse quality than mp3 ... wish she'd learn to use oggenc that's why I installed it :)
        09:17=crimsun intinig: that project, however, seems deprecated.
        09:17=intinig what should I use then?
        09:17=|QuaD- kleedrac: is ogg open source?
        09:17=kleedrac Quad: absolutely
        09:17=crimsun all Ogg-based codecs are open source
        09:17+vassie
        09:17=|QuaD- kleedrac: :)
        09:17=Agrajag BSDish license I think
        09:17+`anthony
        09:18=|QuaD- kleedrac: you are distracting me from my proposal!!!
        09:18=crimsun intinig: I can't recommend one offhand; try a Google search for such
        09:18+spiv
        09:18=kleedrac Something like that ... but it's also better sound quality and compression vs just about anything but mod
        09:18=kleedrac Sorry Quad
        09:18=|QuaD- s'ok
        09:18=|QuaD- whats mod
        09:19=kleedrac Freakishly tiny (think x00Kb) files that sound amazing
        09:19=Tsjoklate |QuaD are you proposing to me?
        09:19=kleedrac Not sure how they're even made ... a friend attached a few as his email sig a few years back
        09:19=|QuaD- Tsjoklate: if you like :)
        09:19+karlheg
        09:20=|QuaD- i am proposing to whoever lets me write my thesis (and fund it)
        09:20=kleedrac What's the thesis on (not that I really want you to propose as I'm married but it'd be fun anyhow :) )
        09:20=crimsun |QuaD-: NSF and US Do*, then :)
        09:20=Tsjoklate |QuaD I would very much like to have at least one proposal in my life
        09:20=Tsjoklate lol
        09:21=jiyuu0 Tsjoklat = Tsjoklat?
        09:21=jiyuu0 Tsjoklat = Tsjoklate?
        09:21=kleedrac Let's all shower Quad with attention shall we? :)
        09:21=Tsjoklate ja Tsjoklat: warty Tsjoklate: hoary
        09:22=jiyuu0 u go gal
        09:22=Tsjoklate testing hoary box out jiyuu0 and fishing for a proposal so it seems
        09:23=jiyuu0 cool
        09:23+Crushed_Cigar
        09:23+sid77
        09:23+karlheg
        09:24=kleedrac So no one has any advise about xmms not playing wma's or mplayer's freakish instability? :)
        09:24+bugz_
        09:25=Tsjoklate kleedrac there is a thread on the wiki about that
        09:25=crimsun kleedrac: I'd really need strace output to debug mplayer
        09:25=Tsjoklate I don't have the link handy but do a bit of search
        09:25+Rotund
        09:25=crimsun the wiki sure is handy :)
        09:25=kleedrac Dang how do I strace to a file?
        09:25+devFran
        09:26=Tsjoklate strace xmms
        09:26=crimsun kleedrac: -o
        09:26-devFran
        09:26=Tsjoklate as the man said
        09:26+ent011
        09:26+ent011
        09:28=kleedrac Want me to email the output file or msg it to you?
        09:28+jamesh
        09:28=crimsun kleedrac: dcc is fine
        09:29=crimsun bzip2 the file first :)
        09:29+cyrus-tc
        09:29=Tsjoklate use pastebin crimsun
        09:29=Tsjoklate easier
        09:30=kleedrac Wait a tic ... which archival util comes with ubuntu (show's you how much I use it :) )
        09:30=|QuaD- Tsjoklate: sorry was writing before.... what kind of proposal were you interested in
        09:30=crimsun Tsjoklate: (true, but strace output tends to be very verbose)
        09:30=crimsun kleedrac: file-roller?
        09:31=Tsjoklate |QuaD the moment past ... lol I'll stay single forever
        09:31=|QuaD- Tsjoklate: haha... i think i am going to also
        09:32=|QuaD- i change my mind too often
        09:32=crimsun kleedrac: I don't think I'll be able to connect; your IP is a 192.168. :)
        09:32=|QuaD- ironwolf: that seems like something i owuld go to #gaim for
        09:33=|QuaD- i don't believe we have any gaim developers here
        09:33=Tsjoklate |QuaD would go to their website and see if anyone else has the same problems
        09:33=ironwolf |QuaD: been there...since it's running under ubuntu, was hoping for help here...No response there.
        09:34=kleedrac crimsun: file sending
        09:34=|QuaD- Tsjoklate: i would?
        09:34=|QuaD- ironwolf: nah, i would wait around, usually there are devs active, where you located (what country)
        09:34=kleedrac crimsun: you rejected it would you prefer an email?
        09:35=Tsjoklate too early yet ironwolf
        09:35+karlheg
        09:37=ironwolf |QuaD: sfbay.ca.usa
        09:37=crimsun kleedrac: I had to reject it because you're using an internal IP. I would never be able to establish a connection.
        09:38=crimsun kleedrac: try pasting the original (non-bzip2ed) version on a paste website (paste.plone.org, pastebin.com, etc.)
        09:38=|QuaD- ironwolf: when you wake up you should be fine
        09:38=|QuaD- (after you go to sleep)
        09:38=crimsun kleedrac: mostly I'm interested in the last part of the strace output
        09:39=ironwolf |QuaD: thanks...
        09:40=aboutToUbuntu so... where do i go to change the refresh rate on my monitor?
        09:41=kleedrac sorry
        09:42=Tsjoklate aboutToUbuntu computer - resolution
        09:42+ruebe
        09:42=Tsjoklate in hoary: System system settings screen resolution
        09:42=ruebe hi, moin
        09:42=crimsun kleedrac: hmm. What is the output of this command? dpkg -l mplayer\*|grep ^ii|awk -F' ' '{print $2}'
        09:43=aboutToUbuntu thanks. 'computer' is pretty important :)
        09:43=kleedrac mplayer-custom
        09:43=kleedrac mplayer-doc
        09:43=kleedrac mplayer-fonts
        09:43=crimsun kleedrac: ah, but you installed "mplayer-custom", which the wiki says will not work.
        09:44=kleedrac Oh?  I didn't even realize!  How do I correct this?
        09:44=crimsun kleedrac: remove mplayer-custom and install mplayer-586 instead
        09:45=crimsun kleedrac: the reason for the illegal instruction is quite simple: mplayer-custom is compiled with SSE2 support, which your Pentium III does not support
        09:45=crimsun kleedrac: your Pentium III (like mine) only supports MMX, MMX2, and SSE
        09:45=kleedrac heh ... man I didn't even realize ... I think that got installed during my upgrade to hoary
        09:46=neoxed can some one help me find my Video Card Drivers And Install them?
        09:46=crimsun neoxed: what video card?
        09:46=neoxed i dunno its onboard sis some thing
        09:46=crimsun neoxed: warty or hoary?
        09:46=neoxed warty i beleave
        09:47=kleedrac crimsun: You the man!!  Thanks very much!! Now I can convert these pesky wma's to oggs :)
        09:47=crimsun neoxed: please use a paste web site to paste the output of: lspci -v -s 01:00.0
        09:47=crimsun kleedrac: good to hear :)
        09:47+TiffOn
        09:48=neoxed 0000:01:00.0 VGA compatible controller: Silicon Integrated Systems [SiS]  661FX/M661FX/M661MX/741/M741/760/M760 PCI/AGP (prog-if 00 [VGA] )
        09:51=|QuaD- neoxed: didn't i ask you yesterday not to paste in the channel
        09:51=neoxed i dunno
        09:51+BradB
        09:51=neoxed i been trying to fix this up right so i tend to forget
        09:51+pitti
        09:53=|QuaD- neoxed: do not do it again or i will ge nasty
        09:53=|QuaD- don't forget
        09:53=crimsun neoxed: thanks. Next time please read my entire request regarding a paste web site. :)
        09:53=neoxed systems download "don't forget.tex" 23kb
        09:54=neoxed ah :)
        09:54=|QuaD- crimsun: i think you should refuse to help him until he posts to a pastebin
        09:54=crimsun haha
        09:54=neoxed i dont know what a pastebin is
        09:54=neoxed X_X
        09:54=crimsun neoxed: paste.plone.org and pastebin.com are two examples
        09:54=|QuaD- neoxed: google
        09:55=|QuaD- i wouldn't be mad if i didn't explain this same thing to you yesterday
        09:55=neoxed happy?
        09:55=neoxed that was prolly my brother man
        09:56=crimsun well, at least it's not $some_other_person_whose_nick_we_shall_not_mention(begins_with_g)
        09:56+bluewheel
        09:56=neoxed hes been trying to help me fix linux up on my pc
        09:56=|QuaD- neoxed: ok, so before you forgot
        09:56=|QuaD- now its your brother?
        09:56=|QuaD- and then you comment on one of our regulars?
        09:57=neoxed thats why when u asked me didnt i tell you this yesterday i said i dunno
        09:57=neoxed comment?
        09:57=crimsun c'mon you two, it's not worth wasting breath/fingers over :)
        09:57=|QuaD- crimsun: he started it by being a moron
        09:57=neoxed i dont get it why ppl do this to me alot
        09:57=neoxed ima newbie
        09:57=neoxed thats all that needs to be said
        09:58=neoxed live and let live gezz
        09:58=aboutToUbuntu hey, I'm trying to update my '/etc/apt/sources.list' file, but the xserver wont open the display. anyone know how to bypass that?
        09:58=crimsun aboutToUbuntu: using what tool?
        09:58=|QuaD- neoxed: "newbie" does not mean you can break all the rules
        09:58=Tsjoklate ok everybody take a cookie and start anew
        09:58=|QuaD- aboutToUbuntu: do you use vim or gedit?
        09:59=Tsjoklate neoxed you might want to change nicks when somebody else is typing.. it might get confusing
        09:59=aboutToUbuntu i tried gedit and emacs
        09:59=|QuaD- i don't know how to use gedit as root (i tend to use vim for everything) but if you know vim, just type sudo vim /etc/apt/sources.list
        09:59=aboutToUbuntu hmm...
        09:59+ultrafunk
        09:59=kleedrac crimsun: mplayer works but throws new errors about not being able to open video device and audio device :(
        09:59=aboutToUbuntu ok. I'll try. I'm really not very good with vim
        10:00=|QuaD- aboutToUbuntu: sudo emacs /etc/apt.... should also work
        10:00+Simira
        10:00=crimsun kleedrac: I presume you're running mplayer from the command line in a terminal?
        10:00=kleedrac yup yup
        10:00=crimsun kleedrac: try `mplayer -ao esd somefile'
        10:00+qazwer
        10:01=|QuaD- kleedrac: is there a reason you don't use totem-xine?
        10:01+Rotund
        10:01=aboutToUbuntu QuaD, it says 'Xlib: connection to ":0.0" refused by server'
        10:02=aboutToUbuntu the something about checking the DISPLAY environtment variable
        10:02=|QuaD- aboutToUbuntu: oh you are using xemacs
        10:02=kleedrac crimsun: That works great!!  But it spit that error on me for trying mplayer 01\ Heaven.wma -ao pcm -aofile heaven.wav
        10:03=kleedrac pcm is supposed to be the filewriter isn't it?
        10:03=aboutToUbuntu nope, just emacs. hmm...
        10:03=|QuaD- aboutToUbuntu: do you you use sudo or do you actually have a root acount?
        10:03=|QuaD- aboutToUbuntu: no its xemacs
        10:03=|QuaD- they call it emacs
        10:03=aboutToUbuntu well, something's up. i cant even open a terminal anymore. let me logout/in
        10:04=|QuaD- lol
        10:04=|QuaD- ok
        10:04=crimsun kleedrac: I think your syntax is incorrect; it should be: `mplayer -ao pcm 01\ Heaven.wma'
        10:04=Tsjoklate potatoe potato
        10:04=crimsun kleedrac: make a backup copy of 01\ Heaven.wma first if you're paranoid
        10:04=kleedrac crimsun: You don't think I need to specify an output file?
        10:05=aboutToUbuntu QuaD, i hate to say it, but that did the trick
        10:05=|QuaD- Tsjoklate: i had frenchfries yesterday!
        10:05=|QuaD- aboutToUbuntu: what did?
        10:05=aboutToUbuntu logging out and back in
        10:05=crimsun kleedrac: you don't need to.
        10:05=Tsjoklate |QuaD made it yourself? :P
        10:05=|QuaD- aboutToUbuntu: lol... whatever works
        10:05=crimsun kleedrac: by default: PCM: File: audiodump.wav (WAVE)
        10:05=|QuaD- Tsjoklate: or the cafeteria made them :)
        10:06=|QuaD- i don't cook fried stuff because i try not to eat it
        10:06=Tsjoklate |QuaD at school you mean?
        10:06=kleedrac crimsun: I'm an idiot!!  I forgot that when I pulled the music directory off a network share it was chmod'ed so my user couldn't create the outfile!!!
        10:06=kleedrac LOL
        10:06=|QuaD- Tsjoklate: yup :)
        10:07=|QuaD- Tsjoklate: i am lazy... i have a kitchen, but still have a meal plan that allows me to eat at the cafeteria twice a week
        10:07=Tsjoklate |QuaD now now you really need to learn how to cook
        10:07+krischan
        10:07+kandinski
        10:07=Tsjoklate |QuaD okay I understand the forever single part now :P
        10:07=|QuaD- Tsjoklate: i am actually a good cook :)
        10:07=|QuaD- i make buttered noodles better than ANYONE
        10:07+jdub_
        10:08=Tsjoklate buttered noodels |QuaD? now that sounds.... scary
        10:08=|QuaD- jk :)
        10:08=|QuaD- haha
        10:10=kleedrac Well that's all for me tonight ... damn I love ubuntu :)
        10:10=kleedrac Thanks alot guys and night
        10:10+wood1
        10:10+Seveas
        10:12=wood1 Hello to all
        10:13=wood1 How are you guys and dolls
        10:13=crimsun well, and yourself?
        10:13=|QuaD- tired
        10:13=|QuaD- i hate writing
        10:13=Tsjoklate hey Gmail2
        10:13=Tsjoklate dangrabbit.. sorry wood1
        10:13=Tsjoklate typo!
        10:13+Gman
        10:14=Tsjoklate half asleep here
        10:14=wood1 Oh, where did you say that you are from ?
        10:14=wood1 How's your Ubuntu Linux ?
        10:14=Tsjoklate mine is great.. yours?
        10:15=wood1 well it is great
        10:15=wood1 But my Home Ubuntu is getting very slow these days
        10:15=Tsjoklate oh yeah? how come?
        10:15=Tsjoklate I am from Siberia wood1.. hence the bad English
        10:15=wood1 I know that my Home PC is quite old, It's a celeron 850 MHz with 128 MB of Memory with a 32 MB Nvidia graphics card
        10:16=wood1 I am from the Himalayan Kingdom of Nepal. Wow you are from Sibera
        10:16=wood1 Siberia
        10:16=wood1 but my home PC used to be quite fast till 3 weeks ago
        10:16+aigarius
        10:16+ReX_
        10:17=wood1 I really don't know why it has gotten very slow these days
        10:17=Simira Tsjoklat: Check out the debian-women website. There's an IRC meeting this Saturday, if you want to join.
        10:18=|QuaD- Simira: out of curiosity whats the link?
        10:18=wood1 Well Simira, can you tell me why my Ubuntu system is getting slow
        10:18=Tsjoklate ah great thanks for letting me know Simira :)
        10:18+Rattboi
        10:18=|QuaD- wood1: thats like me asking you why my head is spinning
        10:19+mako
        10:19=|QuaD- Simira: place for me to me my future woman? lol... jk
        10:19=Tsjoklate I'll attend Simira
        10:19=wood1 Does somebody know the reasons for Ubuntu getting slow
        10:19=Simira |QuaD-: place for all interested
        10:20=|QuaD- :)
        10:20+Agrajag
        10:20=wood1 By the way, I noticed something while installing Ubuntu yesterday
        10:20=Rattboi |QuaD-: haven't updated Ubuntu for a few days
        10:20=Rattboi did they patch the ubuntu menus yet?
        10:20=wood1 If you install your /boot  parition in the same partition of the root  / partition , Ubuntu gets alot faster
        10:21=|QuaD- Rattboi: don't know... i removed kde dependencies
        10:21=|QuaD- and it works
        10:21=wood1 Well installing KDE slows down your Ubuntu System
        10:21=|QuaD- Simira: is your pic on that page?
        10:21=|QuaD- wood1: not necessarily
        10:22=wood1 Well installing KDE in Ubuntu sucks
        10:22=Tsjoklate |QuaD tacky
        10:22=Simira |QuaD-: nope. I'm not profiled yet.
        10:22+Delgul_at_work
        10:22=|QuaD- Tsjoklate: i was just asking!
        10:22-alka_trash
        10:22=|QuaD- Simira: ohhh
        10:23=Tsjoklate |QuaD still tacky :)
        10:23=Rattboi |QuaD-: so are the KDE dependencies there by default?
        10:23=Rattboi cause I never installed it
        10:23=Rattboi you know I'm talkinga bout the Actions menu, etc, right?
        10:23=wood1 Don't install KDE in Ubuntu yet, it has lots of problems
        10:23=|QuaD- Rattboi: are you talkign about it not starting x cuz of kde/gnome conflict?
        10:23=wood1 There is bound to be 1 or more problems
        10:24=|QuaD- wood1: he didn't
        10:24=|QuaD- Tsjoklate: there is one girl that caught my eye!
        10:24=Rattboi |QuaD-: I'm talking about the new X menu update that changed the Gnome menus to Debian style
        10:24=Rattboi has that been fixed yet?
        10:24=Tsjoklate |QuaD the cook at the cafeteria at school?
        10:24=|QuaD- no.. .from the deb woman's page, not telling which though
        10:24=|QuaD- Rattboi: no idea, haven't updated
        10:24=Tsjoklate I know which one
        10:24=wood1 Well Rattboi, I think that you have messed up your sources.list
        10:24=|QuaD- which
        10:25=Rattboi wood1: I'm running hoary
        10:25=Rattboi so it's to be expected
        10:25=|QuaD- wood1: he knows what he's doing
        10:25=Tsjoklate Erinn
        10:25=wood1 So how active is the Debian Women community ?
        10:26=Rattboi ok, I guess I'll have to reboot and update
        10:26=|QuaD- Tsjoklate: that was actually #2
        10:26=Simira we're working on it. There was a BOF in Mataro on friday, and my article will be out today.
        10:26=Tsjoklate well then the bottom but really debian-women is not a meatmarket
        10:26=|QuaD- Tsjoklate: yeah :)
        10:26=|QuaD- Tsjoklate: it was a joke
        10:26=|QuaD- i am not going!
        10:26=|QuaD- i just looked at the picture
        10:26=wood1 How many active members does it have ?
        10:27=Simira there are presentations on DW from time to time, on different places
        10:27=wood1 Simira
        10:27=Tsjoklate |QuaD that's why I only post pictures of Bucky the squirel
        10:27=|QuaD- Tsjoklate: haha.... i am a normal 21 year old hornball
        10:27=wood1 What is the actual goal of the community ?
        10:27=Simira wood1: I don't know. That depends on how you count. There's a mailing list, IRC-channel (open to men as well: #debian-women
        10:27+pitti
        10:28=Tsjoklate |QuaD and that is the reason why I sport Bucky the squirel :)
        10:28=Simira the goal is getting more women into computing and developing
        10:28+neoxed
        10:28=Simira in open source, mainly
        10:28=wood1 Well I get it
        10:28=wood1 When was the community born ?
        10:28=|QuaD- Simira: which is why i won't go... i would scare them away!
        10:29=|QuaD- Tsjoklate: at least i am honest
        10:29=Tsjoklate |QuaD and I applaud you for such
        10:29=wood1 So the last meeting was on the 20 of November? When will the next meeting be ?
        10:29=Simira wood1: what about taking a look at the web-page?
        10:30=|QuaD- (though if either erin or hannah live by me.... i wouldn't mind having dinner to talk about debian, lol)
        10:30=wood1 Well I am looking at it
        10:31=wood1 Simira, Are you a software developer ?
        10:32=Simira wood1: I wouldn't say that. I've made a couple of applications (for windows, though), but I'm more of a network maintainer and administrator
        10:32+sivang
        10:32+jipee
        10:32+telemaco
        10:32+Safari_Al
        10:35=aboutToUbuntu is there something special that needs to be done to allow incoming ssh connections?
        10:35=aboutToUbuntu i keep having my connections refused
        10:35=bluewheel aboutToUbuntu, should not be
        10:35=aboutToUbuntu hmm..
        10:35=|QuaD- aboutToUbuntu: did you install the ssh server?
        10:35=aboutToUbuntu not intentionally. if it did it automatically, then yes, otherwise no
        10:35+ultrafunk
        10:36=Keybuk aboutToUbuntu: install openssh-server
        10:36=aboutToUbuntu who would i do that?
        10:36=|QuaD- aboutToUbuntu: install the ssh server :)
        10:36-sivang
        10:36+plovs
        10:37=aboutToUbuntu now should i start it somehow?
        10:37+rattboi24
        10:37=bluewheel /etc/init.d/... start
        10:37=rattboi24 ok, updating
        10:37=rattboi24 new dbus stuff, it looks like
        10:37=rattboi24 oh, and for some reason my nvidia driver died
        10:37=rattboi24 so I'm using the nv one
        10:38=|QuaD- rattboi24: let me know how it goes... i haven't updated in a little
        10:38=aboutToUbuntu praise the lordy it works!
        10:38=|QuaD- rattboi24: did you update your kernel?
        10:38=wood1 Does somebody know how to import Outlook Express's Address Book from Microsoft Outlook ?
        10:38=|QuaD- that breaks the nvidia driver
        10:38=rattboi24 yeah, I guess I might have
        10:38=rattboi24 I think one of the updates had an updated kernel
        10:39=rattboi24 here's the slow part...
        10:39=rattboi24 probably shouldn't be running hoary on this 500mhz, 128mb machine
        10:39=rattboi24 new perl updates as well
        10:39=crimsun hoary runs fine on a P233 64 MB RAM I have
        10:40=rattboi24 crimsun: you use gnome?
        10:40=crimsun sometimes
        10:40=|QuaD- rattboi24: that is slow
        10:40=rattboi24 yeah, but it's what I got
        10:42=wood1 How to I export the email addresses in the Contacts folder to an Address Book ?
        10:43=|QuaD- rattboi24: isi t your main pc?
        10:44=wood1 Simira, are you are into Network Administration ?
        10:44=rattboi24 kinda
        10:44=wood1 You said that you build some softwares in Windows
        10:44=rattboi24 I use my roomates pc a lot
        10:45=rattboi24 and my gf's 1ghz iBook
        10:45=wood1 Can somebody help now, one of my customers has brought her Windows XP laptop to my office
        10:46=wood1 The problem is that I can't access her contacts list while creating a New Mail Message in Outlook Xp
        10:46-Kid_Sk8
        10:48=|QuaD- Tsjoklat: you still around?
        10:48=|QuaD- guess not
        10:48+imka
        10:49=imka hi
        10:49=|QuaD- hey
        10:49=imka i gotta call my isp to activate my router. its got 2 physical adresses, almost identical. one ends with b the other with c. which 1 should i use<
        10:49=imka ?
        10:49+SteveA
        10:49+`anthony
        10:49+pitti
        10:49+natea
        10:50+tranceConscious
        10:51=bluewheel aboutToUbuntu, sudo apt-get update first
        """#
}
