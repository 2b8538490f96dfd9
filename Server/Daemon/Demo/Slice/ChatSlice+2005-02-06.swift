extension ChatSlice {
    /// #ubuntu on 2005-02-06.
    static let day20050206 = #"""
        04:04=jdub usual: yes, because that's safe
        04:04=usual jdub, I see
        04:04=usual jdub, makes sense
        04:05=knghtbrd ahhh, I had forgotten what a joy application keys are...
        04:05=Adrenal eheh
        04:06=usual jdub, do you or have you used beagle?
        04:06=eyequeue drspin: never seen it, sorry (no apple stuff in years)
        04:06+froust
        04:06=knghtbrd and the joy that is having your terminal program claim to be a given terminal, but send the wrong keystrokes for that terminfo  ;)
        04:06=Adrenal drspin: nothing, thing is hybrid apps usually suck
        04:06=froust Hrm.
        04:06=froust Why can't i change my resolution?
        04:06=Adrenal i don't know?
        04:06=eyequeue drspin: i would say "the bash shell" is where i can do everything, but i do know what you mean :)
        04:06=Adrenal why can't you/
        04:07=eyequeue drspin: yours is just a different philosophy than the one i mentioned.  linux allows both :)
        04:07=froust "The X Server does not support the XRandR extension. Runtime resolution changes to the display size are not available."
        04:07=drspin eyequeue: ah, yes, the beauty of linux :)
        04:07=Adrenal indeed it does eyequeue
        04:07=Adrenal indeed it does
        04:07=Adrenal eheh, converted like 2 ppl over to linux at my last lan
        04:08=eyequeue vim vs emacs, or (less-so) the one in the /topic, heh
        04:08=Adrenal ...if only it had better games support
        04:08=bitfoo i like the nano :|
        04:08=eyequeue fancy hardware vs, a 486 :)
        04:08=Adrenal terminal is better
        04:09=mcphail faster
        04:09+rob__
        04:09=farruinn knghtbrd: really? I use the terminal almost all the time
        04:09=farruinn there's hardly a moment when I don't have one open
        04:09=bitfoo if i wanted a terminalo i would build a time machine and go back to 1984 :|
        04:09=rob__ hello everyone
        04:09=knghtbrd farruinn: I'm talking about "normal" people
        04:09=Adrenal the command line, we can rebuild it, we have the technology
        04:09=knghtbrd ie, the WIMP crowd
        04:09=Adrenal we can make it better then it was before
        04:09=Adrenal better, stronger, faster
        04:09=mcphail My TAB key is my friend.
        04:10=Adrenal really?
        04:10=Adrenal i prefer humans
        04:10=knghtbrd drspin: the time is a factor even if you are a developer
        04:10-TonyK
        04:10=rob__ Adrenal: i dont think we want to spend 6 million dollers on the command line
        04:10=Adrenal we can try
        04:10=knghtbrd I remember some effort to make a Gnome shell
        04:10=bitfoo we should spend 6 millino dollars on contact lens computers that are thought activated :|
        04:11=quarupted hey i downloaded a .deb file how do i make it install
        04:11=rob__ if you can develop that for 6 million you will be a bajilionare
        04:11=bitfoo dpkg -i file.deb
        04:11=quarupted dpkh /dir/file.deb or what?
        04:11=knghtbrd an enhanced bash that worked together with the terminal app and could do things straight GNU bash couldn't, knew about VFS, etc
        04:11=knghtbrd whatever happened to that project?
        04:11=bitfoo are you daring me!?!?
        04:11=farruinn sudo dpkg -i *.deb
        04:11=Adrenal what we should do is make jabber better
        04:11=farruinn quarupted: but usually it's best to use apt if possible
        04:11=Adrenal display pictures and file sending
        04:11=bitfoo whats jabber :|
        04:11=rob__ Imagine the contact lense replacing the Images of clothed persons with naked ones that you are looking at.
        04:11=Adrenal is it really that hard to implement?
        04:12=bitfoo augmented reality would be hard rob__  :/
        04:12=Adrenal bitfoo: u know how trillian and gaim are multi protocol clients?
        04:12=bitfoo yes
        04:12=Adrenal well, jabber is a multi-protocol, protocol
        04:12=drspin ew... messy
        04:12=Adrenal one account that incroporates your msn, yahoo, icq, aim, irc...etc accounts into one
        04:12=bitfoo ahhsoo
        04:12=Adrenal also, there are bots for it
        04:12=knghtbrd the problem with jabber is that it is a jack-of-all-trades protocol without a serious following (or good clients)
        04:13=Adrenal my favourite, the rss boot
        04:13=Adrenal gaim is a good client
        04:13=bitfoo i have an rss bot for irc :/
        04:13+^majik^
        04:13+esher
        04:13=knghtbrd a couple of years ago, its servers weren't so hot either  ;)
        04:13=drspin I use Gaim :) but for each protocol seperately
        04:13=Adrenal i just use live bookmarks in firefox
        04:13=nomasteryoda how do i reset the kde desktop?
        04:13=bitfoo i like em in my email mostly :|
        04:13=Adrenal drspin: same, jabber is on the right track, but still has a little while to go
        04:13=nomasteryoda i can't open any of the icons
        04:13=Adrenal bitfoo: thunderbird?
        04:13=rob__ i had no idea how that worked, is it automatically set up with accounts in the other protocols?
        04:13=nomasteryoda or programs rather
        04:13=bitfoo yeh
        04:13=knghtbrd and really, you cannot effectively make an all-client
        04:14=calc anyone know why i get this on ubuntu when i run hdparm -Tt ?
        04:14=Gwildor nomasteryoda: try to restart X
        04:14+kandinski
        04:14=calc "HDIO_DRIVE_CMD(null) (wait for flush complete) failed: Inappropriate ioctl for device"
        04:14=nomasteryoda Gwildor, did that
        04:14=eyequeue Adrenal: in gaim, i couldn't add myself (in jabber) to a contact list
        04:14=knghtbrd jabber described itself as being able to interface everything from SMTP to IRC into an IM client
        04:14=nomasteryoda seems to be some kind of lock on the files
        04:14=drspin eyequeue: are you running the latest version?
        04:14=Gwildor nomasteryoda: idk then
        04:14=jdub usual: yep
        04:14=drspin calc: that can't be good
        04:14=Adrenal rob__: you have to install gabber, then u can register accounts in that?
        04:14=knghtbrd I don't know about anyone else, but my emails are usually longer than irc messages.
        04:14=eyequeue drspin: warty version
        04:14=Adrenal eyequeue:, y, pray tell, do you wish to talk to yourself?
        04:14=calc drspin: sounds like fubar kernel or something similar
        04:14=nomasteryoda Gwildor, thks
        04:14=rob__ Adrenal:thanks
        04:14=drspin eyequeue: if you install the backport for Hoary I think it's fixed...
        04:15=bitfoo :|
        04:15=usual jdub, will it be added to ubuntu? I would really like to try it but I seem to have issues getting it to compile...dependencies
        04:15=rob__ Anyone want a Gmail Invite?
        04:15=Adrenal lol, used to be cool
        04:15=drspin I've got a bunch of gmail invites as well
        04:15=Adrenal people would jump all over an invite
        04:15=Adrenal but now
        04:15=drspin so does everyone else I imagine
        04:15=Adrenal the magics gone
        04:15=eyequeue drspin: i was reading the jabber user guide, and i have to "allow" myself, i think
        04:15=bitfoo does anyone here who uses hoary also use ati's new drivers for x.org?
        04:15=drspin eyequeue: interesting...
        04:15=knghtbrd although, an email protocol which behaved more like IM protocols (ie, with authentication mechanisms in the protocol itself), could be promising
        04:15=eyequeue drspin: do you know what version that is?
        04:15=drspin eyequeue: oh it's a protocol thing... LOL
        04:15=Madeye Hi, guys running KDE app on gnome desktop (KDE is not installed) will cause any troubles?
        04:16=rob__ I just got my account this week. I invited about a dozen people already
        04:16=drspin eyequeue: 1.1.0
        04:16=Adrenal gonna make my own jabber server eventually
        04:16=drspin do you have the backports repo?
        04:16=eyequeue drspin: yeah, gaim 1.0.0 doesn't have "allow foo to add you"
        04:16=defile Madeye, no
        04:16=farruinn Madeye: no, but it won't look the greatest
        04:16=bitfoo Do you want a gmail account? I've got 200 invites. It's super exclusive!
        04:16=bitfoo :|
        04:16=calc heh
        04:16=eyequeue drspin: sounds like you're about to tell me what i was about to ask you :)
        04:16=drspin LOL
        04:16=farruinn Madeye: there are some themes though that have both gnome and kde versions
        04:16=calc it was exclusive about a year ago ;)
        04:16=usual sup calc
        04:16+AlohaWolf
        04:16=Adrenal anyone got any good live bookmarks(rss feeds)?
        04:16=drspin eyequeue: hang on lemme get it
        04:16=rob__ well i always liked inclusive things better anyway
        04:16=calc usual: hi
        04:17=Adrenal and is it possible to get google news through rss?
        04:17=rob__ yes
        04:17=Adrenal cos, they gave it to gmail
        04:17=rob__ there is a special website that makes them
        04:17=Adrenal rob__:how?
        04:17=Adrenal oh, that
        04:17=bitfoo cool lilttel projects
        04:17=Adrenal bah, been heaps
        04:17=Madeye Mutex destroy failure: Device or resource busy -> any idea?
        04:17=Adrenal they all get shut down
        04:17=eyequeue how do i tell things to stay with warty *except* when i specifically ask for a backport?
        04:17=farruinn eyequeue: pinning
        04:18=calc backports are evil
        04:18=Adrenal bah
        04:18+stuNNed
        04:18=eyequeue farruinn: i don't want to go in and manually pin everything, i just want to make a default be warty
        04:18=Adrenal calc:what you talking about foo?
        04:18=hams do i need to install the NVIDIA 32bit compatiblitiy OpenGL libs?
        04:18+stuNNed
        04:18=hams it seems to cause the installer to fail...
        04:18=farruinn eyequeue: that's possible, you can use wildcards in the pinning
        04:18=drspin calc: I've been using FF1.0 and Gaim 1.1.0 since the day I installed ubuntu with no trouble
        04:18=drspin s
        04:18=bitfoo once you update to hoary should you reboot?
        04:18=bitfoo or just restart x
        04:19=rob__ anyone here use beagle?
        04:19=bitfoo or i guess you cant restart it since you use x.org now...hmm o_O
        04:19=eyequeue bitfoo: x is probably the official answer, but i'd test all the boot-time scripts myself
        04:19=bitfoo hmm :}
        04:19=mcphail most things are easy enough to install without backports
        04:20=Adrenal mcpail: backports are easier, install the proper locations, and are easier to upgrade/uninstall
        04:20+edgarin
        04:20=edgarin Hello
        04:20=Adrenal ahoy
        04:20=bitfoo hi
        04:20=BockBilbo mcphail,
        04:20=mcphail BockBilbo:
        04:20=BockBilbo u still there?
        04:20=BockBilbo ok
        04:20=BockBilbo see.. ive configured it..
        04:21=mcphail ok
        04:21=BockBilbo and i havesome last questions..
        04:21=mcphail uhhu
        04:21=Adrenal then say it, press enter less
        04:21=BockBilbo it lets me send encripted messages
        04:21=BockBilbo is it recommended to send them?
        04:21=mcphail mmm
        04:21=BockBilbo like that?
        04:21=mcphail You need a public key from whoever you're going to send them to. Encrypt the message with that
        04:22=edgarin ?
        04:22=mcphail If you encrypt with your public key, only you will be able to read it (not the recipient)
        04:22+froust
        04:22=BockBilbo mm i think it sends it
        04:22=BockBilbo may i send you a message
        04:23=edgarin the printer are configure in samba
        04:23=BockBilbo to check it?
        04:23=mcphail BockBilbo: /msg me with your email and i'll send you one.
        04:23+whaq_
        04:24=rob__ does hoary still have the menu bar seperated into 2 segments?
        04:24+gotcha
        04:24=drspin is there a good tutorial for setting up samba shares?
        04:24=rob__ *3 segments rather
        04:24=farruinn defile: either edit XF86Config-4 manually or sudo dpkg-reconfigure xserver-xfree86
        04:25=drspin or Samba in general?
        04:25+stuNNed
        04:26=defile farruinn, I have X working fine, I'm just trying to disable the framebuffer modules from loading on boot now, I no longer need them
        04:26=defile farruinn, vesafb etc
        04:26=farruinn I believe that's set in the XF86Config-4 file, isn't it?
        04:27=randabis-laptop yes it is
        04:27=farruinn section modules ...?
        04:27+Guardiann
        04:27=defile I'm not longer using the framebuffer for X
        04:27=randabis-laptop yeah but there should also be an option for it under devices
        04:27=eyequeue does warty-backports update daily like hoary, or less-often?
        04:27=Guardiann wow the new update manager looks pretty cool
        04:28=randabis-laptop eyequeue much less often
        04:28=jdub usual: it will probably land in universe for hoary, perhaps main for bendy
        04:28=defile and it's no longer defined, I redid the config file manually via xf86config
        04:28+neofeed
        04:28=drspin :)
        04:28=jdub usual: all the dependencies are already available
        04:28+froust
        04:28=randabis-laptop also warty backports should all be completely uninstalled if you ever decide to upgrade to hoary
        04:28=usual jdub, gtk-sharp seems to be out of date to build iirc
        04:29=eyequeue randabis-laptop: is there an easy way to determine which to downgrade?  and do i need to wget and dpkg -i manually?
        04:29=randabis-laptop you just have to downgrade the packages you've upgraded...
        04:29=usual jdub, not gtk--sharp...gecko-sharp
        04:29+EvolutionR
        04:30=jdub it needs an upgrade, or...?
        04:30=usual ooo
        04:30=usual doesn't exist
        04:30=usual gotta build it?
        04:30+DagaZ
        04:30-^majik^
        04:30+^majik^
        04:31=randabis-laptop whoever's in charge of the ubuntu wiki should change grumpygroundhog to bendy
        04:31=|QuaD- bendy?
        04:31=|QuaD- why?
        04:31=randabis-laptop because the name has changed
        04:31=eyequeue ho hogs?
        04:31+giard
        04:32=|QuaD- randabis-laptop: as of when???
        04:32=eyequeue s/^ho/no/
        04:32=|QuaD- how do you knwo?
        04:32=randabis-laptop I know because that's what daniels and other developers have said
        04:32=jdub usual: gecko-sharp is in universe man
        04:32=eyequeue randabis-laptop: it's a wiki, i think we're all "in charge" heh
        04:32=|QuaD- randabis-laptop: when?
        04:32=randabis-laptop Evolution add those modules to /etc/hotplug/blacklist
        04:32=usual jdub, weird I don't see it with apt-cache
        04:32=jdub usual: libgecko-cil, like everything else
        04:33=usual ahh
        04:33=randabis-laptop QuaD first time I heard it mentioned was about a week ago
        04:33=usual I thought it was actually called gecko-sharp
        04:33=jdub that's the upstream tarball name
        04:33+scoon
        04:33=|QuaD- isn't jdub a developer?
        04:33+voda
        04:33+mpool
        04:33=randabis-laptop yes
        04:33-EvolutionR
        04:33=|QuaD- ask him
        04:33=mpool jdub: do you know how to get emacs keybindings in hoary gnome?
        04:33=hams successfully install the nvidia driver! i had downloaded the -4 version of the headers, but i needed the -3 version.
        04:34=randabis-laptop bravo
        04:34=mpool i tried ~/.gtkrc-2.0 and gconf but neither seems to do it
        04:34=jdub mpool: ah, removed from ui, still in gconf; under /desktop/gnome i believe
        04:34=jdub oh
        04:34=mpool doesn't seem to work
        04:35=hams hmm...mouse not working in X. what config do i need to a microsoft usb mouse?
        04:35+warty
        04:35=jdub mpool: hmm
        04:35=usual jdub, how about dbus-sharp
        04:35-drspin
        04:35=hams and is there a keystroke that can open a terminal?
        04:35=jdub usual: apt-cache search dbus cil
        04:35+djtansey
        04:35=defile farruinn, actually the dpkg thing might just do what I need, thanks
        04:36=jdub usual: ping daniels
        04:36=MrTrick smb question: If I want to restrict drive access to those on the same subnet, then I'd use hosts-allow = 192.168.2.* ?
        04:36=usual colin@lexapro:~/beagle-0.0.4$ apt-cache search dbus cil
        04:36=usual colin@lexapro:~/beagle-0.0.4$
        04:36+gabaug
        04:38=MrTrick randabis: Ok, I don't need to specify subnet mask?
        04:38=randabis-laptop probably
        04:38+linux-rulz
        04:39=eyequeue i guess i should probably restart xchat with the new backported version
        04:39=randabis-laptop that should do it...can't say for certain since I don't use samba
        04:39+djtansey_
        04:39=randabis-laptop but it works like that for nfs
        04:39=eyequeue brb
        04:39=usual jdub, yeah I think it will build if I can get dbus-sharp
        04:40=jdub usual: ping daniels
        04:40+EvolutionR
        04:41=MrTrick thanks randabis, hopefully it'll work. Not having any machines *not* on the subnet, it may be difficult to test.
        04:41+calamari
        04:43=randabis-laptop np
        04:43=EvolutionR I know this answer :)
        04:43=EvolutionR bye
        04:43-EvolutionR
        04:43=calamari hi
        04:43=randabis-laptop hi
        04:43=mpool yum, calamari
        04:43=calamari hi mpool
        04:44=calamari seen kamion
        04:44=calamari probably no bots here.. hehe :)
        04:44=jdub calamari: kamion is on .uk time
        04:44=calamari oic
        04:44+Ivy6Quaff
        04:48+eyequeue
        04:49=stackpopper Br34ch, weird.  What kind of laptop is it?
        04:49=stackpopper How long ago did  you last try this with windows successfully?
        04:50=stackpopper You would imagine any sane laptop would keep this completely seperate from any OS.
        04:50=Br34ch I installed Ubuntu about 3 days ago, first time trying Linux
        04:50=Br34ch Toshiba p2, incredibly old
        04:50+xalphas
        04:50+HillTop
        04:50+cao7ic
        04:52=|QuaD- Br34ch: interesting... you ran xp on a p2?
        04:53=Br34ch Yep
        04:53=bitfoo it could be something with acpi :|
        04:53=cao7ic hello every one
        04:53=bitfoo maybe your dsdt tables are messed up. i know mine doesn't show battery status because asus is the lame :|
        04:53=|QuaD- Br34ch: what speed?
        04:54=|QuaD- Br34ch: thats interesting, how much ram?
        04:55=bzbb I used to run xp on a k6-2 450 with 56 megs of ram
        04:55=bzbb and a 6 gig harddrive
        04:55=randabis-laptop :)
        04:55-xalphas
        04:55=randabis-laptop that memory usage is completely off though
        04:55=|QuaD- bzbb: that must have run horribly
        04:55+ironwolf
        04:55=Br34ch I'm not 100% sure - could you tell me some comm's on that to check it up?
        04:55-cao7ic
        04:55=|QuaD- bzbb: it ran horribly on my 400 Mhz 64mb ram
        04:56=|QuaD- Br34ch: free -m
        04:56=Br34ch I got the laptop from my brother, he bought it in . . . 99 I'm thinking
        04:56=eyequeue randabis-laptop:  what command gives that format?
        04:56=bzbb |QuaD-, I'd click a menu, wait for the swap storms to end, then start typing, wait a minute
        04:56=randabis-laptop it's a script
        04:56=bzbb click save, another 5 minutes
        04:56=eyequeue ah
        04:56+liam_
        04:56=randabis-laptop sysinfo-dg
        04:56=bzbb the machine loved it when I put debian potato on it
        04:56=|QuaD- bzbb: yeah... thats how it was on my p400... which is why i jumped it to 2000
        04:56=randabis-laptop you can get it at scripts.xchat.org
        04:56+jiyuu0
        04:56=hams are any services enabled by default? ftpd? telnetd? sshd?
        04:57=|QuaD- bzbb: i still have the machine at my parents home... when i get a chance i am going to take it and put debian or mepis on it
        04:57=|QuaD- with a huge hdd and make it a file server for me
        04:57=|QuaD- hams: none of those
        04:57=bzbb this was a laptop
        04:57=eyequeue hams:  you can install any if you please, but i believe your answer is no
        04:57=bzbb I used windowmaker for my WM
        04:57=|QuaD- hams: an easy way to check it is to port scan your comp on a different machine
        04:57=eyequeue hams: inetd might be (?)
        04:57=|QuaD- bzbb: lol
        04:58=|QuaD- bzbb: i will probably load debian, no gui
        04:58=|QuaD- and once its installed, never put a monitor on it
        04:58=hams do i install with apt-get and that's it or do i have to modify something after apt-get'ing it?
        04:58=bzbb spent a lot of time in the command line
        04:58=bzbb X-macs
        04:58=|QuaD- hams: you should just install it and it will do the rest
        04:58=bzbb xemacs
        04:58=bzbb damn fingers
        04:58=|QuaD- bzbb: i use vim :)
        04:59=|QuaD- haha why
        04:59=bzbb its in the rules
        04:59=eyequeue |QuaD-:  tradition ;)
        04:59=|QuaD- lol
        04:59=|QuaD- vim is kind of addicting
        04:59=|QuaD- the challenge of it is fun
        04:59=eyequeue i like vim myself
        04:59=eyequeue but i know rudimentary emacs too
        04:59=randabis-laptop <3 nano lol
        05:00=|QuaD- i used to knwo emacs
        05:00=bzbb M-x stab-eyequeue
        05:00=|QuaD- forgotten it by now though
        05:00=eyequeue heh
        05:00=eyequeue i had an emacs animal book, wish it hadn't gotten lost in a move
        05:01=eyequeue it had ... a gnu, go figure
        05:02=scoon does anyone know if there is a fan/temp monitoring applet for gnome panel ?
        05:02=bitfoo BOOOOOO *HISS*
        05:02=Br34ch So terribly sorry to ask of this, but is there some sort of a . . . uhh, happy happy "Processes List" I can view?
        05:02=farruinn |QuaD-: the funny thing is, once you get use to vim it doesn't seem complicated at all
        05:02=bitfoo top
        05:02=scoon i think i saw one before.
        """#
}
